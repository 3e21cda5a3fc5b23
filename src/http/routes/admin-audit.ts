// GET /admin/v1/audit: what administrators did, newest first.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { AuditService } from '../../services/audit.ts';
import { operation } from '../operation.ts';
import { auditListSchema, auditQuery, toWireAudit } from '../schemas/audit-record.ts';
import { nextCursorOf, parseNumberCursor } from '../schemas/paging.ts';

const schema = operation(
  {
    operationId: 'listAudit',
    summary: 'What administrators did, newest first',
    description:
      'Keys and prices that were made or changed, with who did it and what changed. Nothing takes a record away.',
    tag: 'Administration',
    errors: ['invalid_request'],
  },
  { querystring: auditQuery, response: { 200: auditListSchema } },
);

export async function adminAuditRoute(
  api: FastifyInstance,
  { audit }: { readonly audit: AuditService },
): Promise<void> {
  api.withTypeProvider<ZodTypeProvider>().get('/audit', { schema }, async ({ query }) => {
    const before = query.cursor === undefined ? undefined : parseNumberCursor(query.cursor);
    const page = await audit.list({ before, limit: query.limit });
    return {
      object: 'list' as const,
      data: page.items.map(toWireAudit),
      next_cursor: nextCursorOf(page, ({ id }) => String(id)),
    };
  });
}
