// `umpire usage` and `umpire requests`: sums over the ledger, and its single rows.

import { periodStartMs } from '../domain/account.ts';
import type { ApiKey } from '../domain/api-key.ts';
import { toInstant } from '../domain/instant.ts';
import type { LedgerRow } from '../domain/ledger.ts';
import { formatPrice, formatUsd } from '../domain/money.ts';
import { TIME_DIMENSIONS, type UsageDimension, type UsageFilter, type UsageGroup } from '../domain/usage-report.ts';
import { LIMIT_OPTION, readLimit } from './amounts.ts';
import { type Command, type CommandArguments, type CommandOption, refusePositionals, UsageError } from './command.ts';
import { CSV_OPTION, type Field, JSON_OPTION, shapeOf, writeRows } from './table.ts';
import { parsePast, toDay } from './times.ts';

const NO_REQUESTS = 'No requests in this time.';

const FILTER_OPTIONS = {
  from: {
    type: 'string',
    help: 'From a date on, or from 7d ago; from the 1st of the month if left out',
    example: '7d',
  },
  to: { type: 'string', help: 'Before a date, or before 1d ago; until now if left out', example: '2027-02-01' },
  key: { type: 'string', help: 'Of one key, by its id', example: 'key_…' },
  model: { type: 'string', help: 'Of one model', example: 'kev', values: 'model' },
  endpoint: { type: 'string', help: 'Of one path', example: '/ai/v1/systemone' },
} as const satisfies Record<string, CommandOption>;

/** A group, and what people call its key. */
interface NamedGroup extends UsageGroup {
  readonly keyName: string | null;
}

const COST_FIELDS: readonly Field<{ readonly costPicoUsd: bigint }>[] = [
  { name: 'cost_usd', heading: 'COST USD', value: ({ costPicoUsd }) => formatUsd(costPicoUsd) },
  { name: 'cost_pico_usd', value: ({ costPicoUsd }) => String(costPicoUsd) },
];

const DIMENSION_FIELDS: Readonly<Record<UsageDimension, readonly Field<NamedGroup>[]>> = {
  key: [
    { name: 'key', heading: 'KEY', value: ({ keyId = '' }) => keyId },
    { name: 'key_name', heading: 'NAME', value: ({ keyName }) => keyName },
  ],
  model: [{ name: 'model', heading: 'MODEL', value: ({ modelId = '' }) => modelId }],
  endpoint: [{ name: 'endpoint', heading: 'ENDPOINT', value: ({ endpoint = '' }) => endpoint }],
  end: [{ name: 'end', heading: 'END', value: ({ end = '' }) => end }],
  day: [
    {
      name: 'start',
      heading: 'DAY',
      value: ({ startMs = 0 }) => toInstant(startMs),
      show: ({ startMs = 0 }) => toDay(startMs),
    },
  ],
  hour: [{ name: 'start', heading: 'HOUR', value: ({ startMs = 0 }) => toInstant(startMs) }],
  minute: [{ name: 'start', heading: 'MINUTE', value: ({ startMs = 0 }) => toInstant(startMs) }],
};

const COUNT_FIELDS: readonly Field<UsageGroup>[] = [
  { name: 'requests', heading: 'REQUESTS', value: ({ requests }) => requests },
  { name: 'input_tokens', heading: 'INPUT', value: ({ inputTokens }) => inputTokens },
  { name: 'cached_tokens', heading: 'CACHED', value: ({ cachedTokens }) => cachedTokens },
  { name: 'output_tokens', heading: 'OUTPUT', value: ({ outputTokens }) => outputTokens },
  { name: 'reasoning_tokens', heading: 'REASONING', value: ({ reasoningTokens }) => reasoningTokens },
];

const SUM_FIELDS: readonly Field<NamedGroup>[] = [
  ...COUNT_FIELDS.map((field) => ({ ...field, isRight: true })),
  ...COST_FIELDS,
].map((field) => ({ ...field, isSummed: true }));

const DIMENSIONS = Object.keys(DIMENSION_FIELDS) as UsageDimension[];

const ROW_FIELDS: readonly Field<LedgerRow>[] = [
  { name: 'id', value: ({ id }) => id },
  { name: 'request_id', value: ({ requestId }) => requestId },
  { name: 'accepted_at', heading: 'ACCEPTED', value: ({ acceptedAtMs }) => toInstant(acceptedAtMs) },
  { name: 'key', heading: 'KEY', value: ({ keyId }) => keyId },
  { name: 'model', heading: 'MODEL', value: ({ modelId }) => modelId },
  { name: 'endpoint', heading: 'ENDPOINT', value: ({ endpoint }) => endpoint },
  { name: 'streamed', value: ({ isStreamed }) => isStreamed },
  { name: 'end', heading: 'END', value: ({ end }) => end },
  { name: 'status', heading: 'STATUS', isRight: true, value: ({ status }) => status },
  { name: 'error_code', value: ({ errorCode }) => errorCode },
  { name: 'input_tokens', heading: 'INPUT', isRight: true, value: ({ usage }) => usage.inputTokens },
  { name: 'cached_tokens', value: ({ usage }) => usage.cachedTokens },
  { name: 'output_tokens', heading: 'OUTPUT', isRight: true, value: ({ usage }) => usage.outputTokens },
  { name: 'reasoning_tokens', value: ({ usage }) => usage.reasoningTokens },
  { name: 'estimated', value: ({ isEstimated }) => isEstimated },
  { name: 'input_price_usd', value: ({ price }) => formatPrice(price.inputMicroUsd) },
  { name: 'cached_input_price_usd', value: ({ price }) => formatPrice(price.cachedInputMicroUsd) },
  { name: 'output_price_usd', value: ({ price }) => formatPrice(price.outputMicroUsd) },
  { name: 'duration_ms', heading: 'MS', isRight: true, value: ({ durationMs }) => durationMs },
  { name: 'wait_ms', value: ({ waitMs }) => waitMs },
  { name: 'upstream', value: ({ upstream }) => upstream },
  { name: 'upstream_failures', value: ({ upstreamFailures }) => upstreamFailures },
  ...COST_FIELDS,
];

export const usageCommand: Command = {
  name: 'usage',
  group: 'money',
  summary: 'Sums over the ledger: requests, tokens, cost',
  usage: '[--by …] [--from …] [--to …] [--key …] [--model …] [--json | --csv]',
  options: {
    by: {
      type: 'string',
      help: `${DIMENSIONS.join(', ')}; several with commas`,
      example: 'key,model',
      values: DIMENSIONS,
    },
    ...FILTER_OPTIONS,
    json: JSON_OPTION,
    csv: CSV_OPTION,
  },
  notes: 'Without --by it is one sum. Days, hours and minutes are UTC. A request counts when it was accepted.',
  examples: [
    { text: 'Who used what this month', command: 'umpire usage --by key,model' },
    { text: 'Day by day, the last week', command: 'umpire usage --by day --from 7d --csv' },
  ],
  json: shapeOf([...DIMENSIONS.flatMap((dimension) => DIMENSION_FIELDS[dimension]), ...SUM_FIELDS]),
  async run(given, program) {
    refusePositionals(given);
    const by = parseDimensions(given.options['by']);
    const filter = readFilter(given, Date.now());
    const { rows, total } = await program.withServices(given.settings, async ({ usage, keys }) => {
      const groups = await collect(usage.allGroups(filter, by));
      const names = by.includes('key') ? await keys.list() : [];
      return { rows: named(groups, names), total: { ...(await usage.total(filter)), keyName: null } };
    });
    const fields = [...by.flatMap((dimension) => DIMENSION_FIELDS[dimension]), ...SUM_FIELDS];
    writeRows(program, given, {
      rows,
      fields,
      none: NO_REQUESTS,
      total: rows.length > 1 ? total : undefined,
    });
    return 0;
  },
};

export const requestsCommand: Command = {
  name: 'requests',
  group: 'money',
  summary: 'Single rows of the ledger, newest first',
  usage: '[--limit …] [--from …] [--to …] [--key …] [--model …] [--json | --csv]',
  options: { limit: LIMIT_OPTION, ...FILTER_OPTIONS, json: JSON_OPTION, csv: CSV_OPTION },
  notes: 'JSON and CSV have more of each row than the table.',
  examples: [
    { text: 'The last 20', command: 'umpire requests' },
    { text: 'Those of the last hour on one model', command: 'umpire requests --from 1h --model kev --limit 100' },
  ],
  json: shapeOf(ROW_FIELDS),
  async run(given, program) {
    refusePositionals(given);
    const filter = readFilter(given, Date.now());
    const limit = readLimit(given);
    const rows = await program.withServices(given.settings, ({ usage }) => collect(usage.allRows(filter), limit));
    writeRows(program, given, { rows, fields: ROW_FIELDS, none: NO_REQUESTS });
    return 0;
  },
};

async function collect<Row>(pages: AsyncIterable<readonly Row[]>, limit = Number.POSITIVE_INFINITY): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of pages) {
    rows.push(...page);
    if (rows.length >= limit) break;
  }
  return rows.slice(0, limit);
}

function named(groups: readonly UsageGroup[], keys: readonly ApiKey[]): NamedGroup[] {
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return groups.map((group) => ({ ...group, keyName: names.get(group.keyId ?? '') ?? null }));
}

/** @throws UsageError */
function parseDimensions(given: unknown): UsageDimension[] {
  const words = typeof given === 'string' ? given.split(',').map((word) => word.trim()) : [];
  const by = words.map((word) => DIMENSIONS.find((known) => known === word));
  const known = by.filter((dimension) => dimension !== undefined);
  if (known.length < words.length)
    throw new UsageError(`--by takes ${DIMENSIONS.join(', ')}, with commas between them.`);
  if (new Set(known).size < known.length) throw new UsageError('--by names something twice.');
  if (TIME_DIMENSIONS.filter((time) => known.includes(time)).length > 1)
    throw new UsageError(`--by takes one of ${TIME_DIMENSIONS.join(', ')}.`);
  return known;
}

/** @throws UsageError */
function readFilter({ options }: CommandArguments, nowMs: number): UsageFilter {
  const { from, to, key, model, endpoint } = options;
  // A request of this very millisecond belongs to what was until now.
  const toMs = typeof to === 'string' ? parsePast(to, '--to', nowMs) : nowMs + 1;
  const fromMs = typeof from === 'string' ? parsePast(from, '--from', nowMs) : periodStartMs('month', toMs - 1);
  if (fromMs >= toMs) throw new UsageError('--from must lie before --to.');
  return {
    fromMs,
    toMs,
    ...(typeof key === 'string' ? { keyId: key } : {}),
    ...(typeof model === 'string' ? { modelId: model } : {}),
    ...(typeof endpoint === 'string' ? { endpoint } : {}),
  };
}
