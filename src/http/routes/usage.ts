// GET /ai/v1/usage: what the calling key used, and where it stands. Another key's usage cannot be asked for here: the
// filter is built from the key that calls.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { UsageService } from '../../services/reports/reports.ts';
import { keyOf } from '../authenticate.ts';
import { operation } from '../operation.ts';
import { ownUsageSchema, toWireStanding } from '../schemas/own-usage.ts';
import { parseOffset } from '../schemas/paging.ts';
import { ownUsageQuery, toUsageFilter, toWireReport } from '../schemas/usage-report.ts';

const schema = operation(
  {
    operationId: 'getUsage',
    summary: 'What this key used, and where it stands',
    description: 'Sums of this month in UTC, or of another time. Requests are counted when they were accepted.',
    tag: 'Usage',
    errors: ['invalid_request'],
  },
  { querystring: ownUsageQuery, response: { 200: ownUsageSchema } },
);

export async function usageRoute(api: FastifyInstance, { usage }: { readonly usage: UsageService }): Promise<void> {
  api.withTypeProvider<ZodTypeProvider>().get('/usage', { schema }, async (request) => {
    const { query } = request;
    const key = keyOf(request);
    const filter = toUsageFilter({ ...query, key: key.id }, usage.nowMs());
    const page = { offset: parseOffset(query.cursor), limit: query.limit };
    const [report, standing] = await Promise.all([usage.report(filter, query.group_by, page), usage.standing(key)]);
    return {
      object: 'usage' as const,
      key: key.id,
      ...toWireReport(filter, report, page),
      ...toWireStanding(key, standing),
    };
  });
}
