// Latency reports on the wire: how long completed requests took, as percentiles by groups.

import { z } from 'zod';
import { toInstant } from '../../domain/instant.ts';
import type { Page } from '../../domain/page.ts';
import { type LatencyGroup, TIME_DIMENSIONS, type UsageFilter } from '../../domain/usage-report.ts';
import type { GroupPage } from '../../services/reports/reports.ts';
import { instantReply } from './instant.ts';
import { nextCursor } from './paging.ts';
import { strictFields } from './strict-fields.ts';
import {
  filters,
  groupByParameter,
  groupShape,
  keyFilter,
  paging,
  type RangeQuery,
  range,
  refuseLongRange,
  toUsageFilter,
  toWireNames,
} from './usage-report.ts';

/** Every row of the range is read. */
const MAX_DAYS = 31;

const measure = z
  .enum(['duration', 'wait'], 'The parameter \'measure\' must be "duration" or "wait".')
  .default('duration')
  .describe(
    'What is measured: `duration` from acceptance to the end; `wait` until work began, or the first byte of an upstream came.',
  );

export const latencyQuery = strictFields('query', {
  measure,
  ...range,
  group_by: groupByParameter(['key', 'model', 'endpoint', ...TIME_DIMENSIONS]),
  ...keyFilter,
  ...filters,
  ...paging,
});

const { end: _end, ...names } = groupShape;
const time = z.int().min(0);

const latencyGroupSchema = z
  .object({
    ...names,
    requests: z.int().min(1).describe('How many were completed.'),
    p50_ms: time.describe('Half of them took no longer.'),
    p90_ms: time.describe('90 of 100 took no longer.'),
    p95_ms: time.describe('95 of 100 took no longer.'),
    p99_ms: time.describe('99 of 100 took no longer.'),
    longest_ms: time.describe('None took longer.'),
  })
  .meta({ id: 'LatencyGroup', description: 'Times of the completed requests of one group, in milliseconds.' });

export const latencyReportSchema = z
  .object({
    object: z.literal('latency_report').describe('What this is.'),
    from: instantReply.describe('Requests accepted from then on.'),
    to: instantReply.describe('Requests accepted before then.'),
    measure: z.enum(['duration', 'wait']).describe('What was measured.'),
    data: z.array(latencyGroupSchema).describe('One for each group with a completed request, in their order.'),
    next_cursor: nextCursor,
  })
  .meta({ id: 'LatencyReport', description: 'Percentiles by nearest rank, rounded down to three digits.' });

/** @throws AppError `invalid_request` when the range is empty or too long */
export function toLatencyFilter(query: RangeQuery, nowMs: number): UsageFilter {
  const filter = toUsageFilter(query, nowMs);
  refuseLongRange(filter.fromMs, filter.toMs, MAX_DAYS);
  return filter;
}

type WireLatency = Omit<z.output<typeof latencyReportSchema>, 'object' | 'measure'>;

/** One page of a report. */
export function toWireLatency({ fromMs, toMs }: UsageFilter, found: Page<LatencyGroup>, page: GroupPage): WireLatency {
  return {
    from: toInstant(fromMs),
    to: toInstant(toMs),
    data: found.items.map((group) => ({
      ...toWireNames(group),
      requests: group.requests,
      p50_ms: group.p50Ms,
      p90_ms: group.p90Ms,
      p95_ms: group.p95Ms,
      p99_ms: group.p99Ms,
      longest_ms: group.longestMs,
    })),
    next_cursor: found.hasMore ? String(page.offset + page.limit) : null,
  };
}
