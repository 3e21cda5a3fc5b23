// /admin/v1/usage, /admin/v1/requests and /admin/v1/latency: what all keys used, as sums, row by row, in pages or as a CSV
// file, as it happens, and how long it took.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { UsageService } from '../../services/reports/reports.ts';
import { type CsvRow, sendCsv, wantsCsv } from '../csv-reply.ts';
import { operation } from '../operation.ts';
import { latencyQuery, latencyReportSchema, toLatencyFilter, toWireLatency } from '../schemas/latency-report.ts';
import { ledgerRowsSchema, rowHeading, toRowCells, toWireRow } from '../schemas/ledger-row.ts';
import { nextCursorOf, parseOffset, parseRowCursor, refusePaging, rowCursor } from '../schemas/paging.ts';
import { feedQuery, parseFeedCursor, requestFeedSchema, toWireFeed } from '../schemas/request-feed.ts';
import {
  groupHeading,
  requestsQuery,
  toGroupCells,
  toUsageFilter,
  toWireReport,
  usageQuery,
  usageReportSchema,
} from '../schemas/usage-report.ts';

const tag = 'Administration';
const csv =
  'The whole report, written as fast as it is read. Cells that a spreadsheet would run begin with an apostrophe.';

const usageSchema = operation(
  {
    operationId: 'getUsageReport',
    summary: 'What all keys used',
    description: 'Sums of this month in UTC, or of another time. Requests are counted when they were accepted.',
    tag,
    errors: ['invalid_request'],
    csv,
  },
  { querystring: usageQuery, response: { 200: usageReportSchema } },
);

const requestsSchema = operation(
  {
    operationId: 'listRequests',
    summary: 'Accepted requests, newest first',
    description: 'Old ones may have been summed up and are then in the sums alone (setting `ledger.retentionDays`).',
    tag,
    errors: ['invalid_request'],
    csv,
  },
  { querystring: requestsQuery, response: { 200: ledgerRowsSchema } },
);

const latencySchema = operation(
  {
    operationId: 'getLatencyReport',
    summary: 'How long completed requests took',
    description: [
      'Percentiles over the rows of the ledger, at most 31 days of them. Rows that were summed up (setting',
      '`ledger.retentionDays`) have no times any more.',
    ].join(' '),
    tag,
    errors: ['invalid_request'],
  },
  { querystring: latencyQuery, response: { 200: latencyReportSchema } },
);

const feedSchema = operation(
  {
    operationId: 'followRequests',
    summary: 'Requests as they end, to be read again and again',
    description: [
      'Without a cursor the last ones that ended, and then with each cursor what has ended since: every request once, about',
      'a second after its end, from whichever server answers. Ask every second or two. It goes back an hour;',
      '`/admin/v1/requests` has everything.',
    ].join(' '),
    tag,
    errors: ['invalid_request'],
  },
  { querystring: feedQuery, response: { 200: requestFeedSchema } },
);

export async function adminUsageRoutes(
  api: FastifyInstance,
  { usage }: { readonly usage: UsageService },
): Promise<void> {
  const typed = api.withTypeProvider<ZodTypeProvider>();

  typed.get('/usage', { schema: usageSchema }, async (request, reply) => {
    const { query } = request;
    const filter = toUsageFilter(query, usage.nowMs());
    const by = query.group_by;
    if (wantsCsv(request, query.format)) {
      refusePaging(query);
      const pages = mapPages(usage.allGroups(filter, by), (group) => toGroupCells(group, by));
      return sendCsv(reply, { name: 'usage', heading: groupHeading(by), pages });
    }
    const page = { offset: parseOffset(query.cursor), limit: query.limit };
    const report = await usage.report(filter, by, page);
    return reply.send({ object: 'usage_report' as const, ...toWireReport(filter, report, page) });
  });

  typed.get('/latency', { schema: latencySchema }, async ({ query }) => {
    const { measure, group_by: by } = query;
    const filter = toLatencyFilter(query, usage.nowMs());
    const page = { offset: parseOffset(query.cursor), limit: query.limit };
    const found = await usage.latency({ filter, by, measure }, page);
    return { object: 'latency_report' as const, measure, ...toWireLatency(filter, found, page) };
  });

  typed.get('/requests/feed', { schema: feedSchema }, async ({ query }) => {
    const place = query.cursor === undefined ? undefined : parseFeedCursor(query.cursor);
    return toWireFeed(await usage.feed(place, query.limit));
  });

  typed.get('/requests', { schema: requestsSchema }, async (request, reply) => {
    const { query } = request;
    const filter = toUsageFilter(query, usage.nowMs());
    if (wantsCsv(request, query.format)) {
      refusePaging(query);
      return sendCsv(reply, {
        name: 'requests',
        heading: rowHeading,
        pages: mapPages(usage.allRows(filter), toRowCells),
      });
    }
    const before = query.cursor === undefined ? undefined : parseRowCursor(query.cursor);
    const page = await usage.rows(filter, { before, limit: query.limit });
    return reply.send({
      object: 'list' as const,
      data: page.items.map(toWireRow),
      next_cursor: nextCursorOf(page, rowCursor),
    });
  });
}

async function* mapPages<Item>(
  pages: AsyncGenerator<readonly Item[]>,
  toCells: (item: Item) => CsvRow,
): AsyncGenerator<readonly CsvRow[]> {
  for await (const page of pages) yield page.map(toCells);
}
