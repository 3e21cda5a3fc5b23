// Usage reports on the wire: which part of the ledger is asked for, and sums as they are shown, in JSON and as CSV.

import { z } from 'zod';
import { periodStartMs } from '../../domain/account.ts';
import { AppError } from '../../domain/errors.ts';
import { toInstant } from '../../domain/instant.ts';
import {
  TIME_DIMENSIONS,
  type UsageDimension,
  type UsageFilter,
  type UsageGroup,
  type UsageGroupNames,
} from '../../domain/usage-report.ts';
import type { GroupPage, UsageReport } from '../../services/reports/reports.ts';
import type { CsvRow } from '../csv-reply.ts';
import { instantField, instantReply } from './instant.ts';
import { picoUsdReply, toWireCost, usdReply } from './money-field.ts';
import { limitParameter, nextCursor, numberCursor, rowCursorParameter } from './paging.ts';
import { filterText, queryText, strictFields } from './strict-fields.ts';

const OWN_DIMENSIONS = ['model', 'endpoint', 'end', ...TIME_DIMENSIONS] as const satisfies readonly UsageDimension[];
const DIMENSIONS = ['key', ...OWN_DIMENSIONS] as const satisfies readonly UsageDimension[];
const DAY_MS = 86_400_000;
/** A report by the minute has no more groups of time than one by the day has in eight years. */
const MAX_DAYS_BY_MINUTE = 2;

/** `model,day`: each name once, in any order. */
export function groupByParameter<Dimension extends UsageDimension>(dimensions: readonly Dimension[]) {
  const message = `The parameter 'group_by' must be names out of ${dimensions.join(', ')}, each once, with commas between them; one of ${TIME_DIMENSIONS.join(', ')}.`;
  return queryText('group_by')
    .optional()
    .transform((text, context): readonly Dimension[] => {
      if (text === undefined || text === '') return [];
      const names = text.split(',');
      const found = dimensions.filter((dimension) => names.includes(dimension));
      const times = TIME_DIMENSIONS.filter((time) => names.includes(time));
      if (found.length === names.length && times.length <= 1) return found;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ type: 'string', pattern: `^$|^(${dimensions.join('|')})(,(${dimensions.join('|')}))*$` })
    .describe(`What is summed apart: ${dimensions.join(', ')}. Default: nothing, one sum of all.`);
}

export const range = {
  from: instantField('from', 'parameter')
    .optional()
    .describe('From then on. Default: the start of this month, in UTC.'),
  to: instantField('to', 'parameter').optional().describe('Until before then. Default: now.'),
};
export const paging = { limit: limitParameter, cursor: numberCursor };
export const filters = {
  model: filterText('model').optional().describe('Of this model alone.'),
  endpoint: filterText('endpoint').optional().describe('Of this endpoint alone: `/ai/v1/systemone`.'),
};
export const keyFilter = { key: filterText('key').optional().describe('Id of a key: of this one alone.') };
const format = {
  format: z
    .enum(['json', 'csv'], 'The parameter \'format\' must be "json" or "csv".')
    .optional()
    .describe('`csv` is the whole report, without pages. Default: as `Accept` says.'),
};

export const ownUsageQuery = strictFields('query', {
  ...range,
  group_by: groupByParameter(OWN_DIMENSIONS),
  ...filters,
  ...paging,
});
export const usageQuery = strictFields('query', {
  ...range,
  group_by: groupByParameter(DIMENSIONS),
  ...keyFilter,
  ...filters,
  ...paging,
  ...format,
});
export const requestsQuery = strictFields('query', {
  ...range,
  ...keyFilter,
  ...filters,
  limit: limitParameter,
  cursor: rowCursorParameter,
  ...format,
});

// Not z.int(): beyond 2^53 a sum is told as exactly as JSON's readers can hold it, rather than not at all.
const count = z.number().min(0).meta({ type: 'integer' });

const totalsShape = {
  requests: count.describe('How many were accepted.'),
  input_tokens: count.describe('Tokens read, cached ones included.'),
  cached_tokens: count.describe('Those that an upstream had cached.'),
  output_tokens: count.describe('Tokens written, reasoning included.'),
  reasoning_tokens: count.describe('Those of reasoning.'),
  cost_usd: usdReply,
  cost_pico_usd: picoUsdReply,
};

const usageTotalsSchema = z.object(totalsShape).meta({ id: 'UsageTotals', description: 'Sums over requests.' });

export const groupShape = {
  key: z.string().optional().describe('Id of the key.'),
  model: z.string().optional().describe('Id of the model.'),
  endpoint: z.string().optional().describe('Path of the route.'),
  end: z.string().optional().describe('How the requests ended: `completed`, `client_left`, …'),
  start: instantReply.optional().describe('Of the day, hour or minute, in UTC.'),
};

type WireNames = { [Name in keyof typeof groupShape]?: string };

const usageGroupSchema = z.object({ ...groupShape, ...totalsShape }).meta({
  id: 'UsageGroup',
  description: 'Sums over the requests of one group; it has the names that were asked for.',
});

export const reportShape = {
  from: instantReply.describe('Requests accepted from then on.'),
  to: instantReply.describe('Requests accepted before then.'),
  data: z.array(usageGroupSchema).describe('One for each group, in their order.'),
  totals: usageTotalsSchema.describe('Of the whole report, not of the page.'),
  next_cursor: nextCursor,
};

export const usageReportSchema = z
  .object({ object: z.literal('usage_report').describe('What this is.'), ...reportShape })
  .meta({ id: 'UsageReport', description: 'Sums of the ledger, ordered by their groups.' });

export interface RangeQuery {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly group_by?: readonly UsageDimension[] | undefined;
}

/** @throws AppError `invalid_request` when the range is empty, or too long for its groups */
export function toUsageFilter(query: RangeQuery, nowMs: number): UsageFilter {
  const toMs = query.to ?? nowMs;
  const fromMs = query.from ?? periodStartMs('month', query.to === undefined ? nowMs : toMs - 1);
  if (fromMs >= toMs) {
    throw new AppError('invalid_request', "The parameter 'from' must be before 'to'.", { param: 'from' });
  }
  if (query.group_by?.includes('minute')) refuseLongRange(fromMs, toMs, MAX_DAYS_BY_MINUTE);
  return {
    fromMs,
    toMs,
    ...(query.key === undefined ? {} : { keyId: query.key }),
    ...(query.model === undefined ? {} : { modelId: query.model }),
    ...(query.endpoint === undefined ? {} : { endpoint: query.endpoint }),
  };
}

/** @throws AppError `invalid_request` */
export function refuseLongRange(fromMs: number, toMs: number, maxDays: number): void {
  if (toMs - fromMs <= maxDays * DAY_MS) return;
  throw new AppError('invalid_request', `This report covers at most ${maxDays} days: give a later 'from'.`, {
    param: 'from',
  });
}

type WireReport = Omit<z.output<typeof usageReportSchema>, 'object'>;

/** One page of a report. */
export function toWireReport({ fromMs, toMs }: UsageFilter, report: UsageReport, page: GroupPage): WireReport {
  return {
    from: toInstant(fromMs),
    to: toInstant(toMs),
    data: report.items.map(toWireGroup),
    totals: toWireTotals(report.total),
    next_cursor: report.hasMore ? String(page.offset + page.limit) : null,
  };
}

function toWireTotals(group: UsageGroup): z.output<typeof usageTotalsSchema> {
  return {
    requests: group.requests,
    input_tokens: Number(group.inputTokens),
    cached_tokens: Number(group.cachedTokens),
    output_tokens: Number(group.outputTokens),
    reasoning_tokens: Number(group.reasoningTokens),
    ...toWireCost(group.costPicoUsd),
  };
}

export function toWireNames(group: UsageGroupNames): WireNames {
  return {
    ...(group.keyId === undefined ? {} : { key: group.keyId }),
    ...(group.modelId === undefined ? {} : { model: group.modelId }),
    ...(group.endpoint === undefined ? {} : { endpoint: group.endpoint }),
    ...(group.end === undefined ? {} : { end: group.end }),
    ...(group.startMs === undefined ? {} : { start: toInstant(group.startMs) }),
  };
}

function toWireGroup(group: UsageGroup): z.output<typeof usageGroupSchema> {
  return {
    ...toWireNames(group),
    ...toWireTotals(group),
  };
}

/** Columns of the dimensions asked for, then the sums. */
export function groupHeading(by: readonly UsageDimension[]): string[] {
  return [...columnsOf(by), ...Object.keys(totalsShape)];
}

export function toGroupCells(group: UsageGroup, by: readonly UsageDimension[]): CsvRow {
  const wire = toWireGroup(group);
  return [
    ...columnsOf(by).map((column) => wire[column] ?? null),
    group.requests,
    group.inputTokens,
    group.cachedTokens,
    group.outputTokens,
    group.reasoningTokens,
    wire.cost_usd,
    wire.cost_pico_usd,
  ];
}

function columnsOf(by: readonly UsageDimension[]): (keyof WireNames)[] {
  return [...new Set(by.map((dimension) => (isTimeDimension(dimension) ? 'start' : dimension)))];
}

function isTimeDimension(dimension: UsageDimension): dimension is (typeof TIME_DIMENSIONS)[number] {
  return TIME_DIMENSIONS.some((time) => time === dimension);
}
