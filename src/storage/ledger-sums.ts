// Sums over the ledger and its roll-ups as one statement, so that a roll-up under way is never seen half: what reports, the
// recomputing of an account and `umpire db check` are made of.

import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { UsageDimension, UsageFilter, UsageGroupNames } from '../domain/usage-report.ts';
import type { Database } from './schema.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A cost is summed in two parts, so that no sum passes 64 bits: SQLite has nothing wider. */
export const PICO_USD_PER_MILLI_USD = 1_000_000_000n;

export type LedgerFilter = Partial<UsageFilter>;
type TimeColumn = 'accepted_at_ms' | 'hour_start_ms';
type GroupColumn = 'key_id' | 'model_id' | 'endpoint' | 'end_type' | 'start_ms';

export interface NamedRow {
  readonly key_id?: string;
  readonly model_id?: string;
  readonly endpoint?: string;
  readonly end_type?: string;
  readonly start_ms?: SummedColumn;
}

/** Whole numbers as the database gives them: number, bigint or text. A PostgreSQL sum of bigints is text. */
export interface SummedRow extends NamedRow {
  readonly requests: SummedColumn;
  readonly input_tokens: SummedColumn;
  readonly cached_tokens: SummedColumn;
  readonly output_tokens: SummedColumn;
  readonly reasoning_tokens: SummedColumn;
  readonly cost_milli_usd: SummedColumn;
  readonly cost_rest_pico_usd: SummedColumn;
}

export type SummedColumn = number | bigint | string;

const GROUP_COLUMNS = {
  key: 'key_id',
  model: 'model_id',
  endpoint: 'endpoint',
  end: 'end_type',
  day: 'start_ms',
  hour: 'start_ms',
  minute: 'start_ms',
} as const satisfies Record<UsageDimension, GroupColumn>;

const TOKEN_COLUMNS = ['input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens'] as const;
const SUMMED_COLUMNS = ['requests', ...TOKEN_COLUMNS] as const;
const COST_COLUMNS = ['cost_milli_usd', 'cost_rest_pico_usd'] as const;
type CostSum = Pick<SummedRow, (typeof COST_COLUMNS)[number]>;

const PER_MILLI = sql.lit(Number(PICO_USD_PER_MILLI_USD));
const LEDGER_COSTS = [
  sql`sum(cost_pico_usd / ${PER_MILLI}) as cost_milli_usd`,
  sql`sum(cost_pico_usd % ${PER_MILLI}) as cost_rest_pico_usd`,
];

/** @returns the columns to group by, each once, in the order of the dimensions */
export function groupColumns(by: readonly UsageDimension[]): readonly GroupColumn[] {
  return [...new Set(by.map((dimension) => GROUP_COLUMNS[dimension]))];
}

/**
 * `select …` without an order: one row per group; without dimensions always exactly one. A rolled-up hour counts where its
 * start lies in the range. Each table is summed by itself first, so that little is left to be merged.
 */
export function selectSums(filter: LedgerFilter, by: readonly UsageDimension[]): RawBuilder<SummedRow> {
  const columns = groupColumns(by).map((column) => sql.ref(column));
  const sums = [...SUMMED_COLUMNS, ...COST_COLUMNS].map(sumOfSums);
  const parts = sql`${selectLedgerSums(filter, by)} union all ${selectRollupSums(filter, by)}`;
  return sql<SummedRow>`select ${sql.join([...columns, ...sums])} from (${parts}) as part${groupBy(columns)}`;
}

/** Pico-dollars, exact; also after a roll-up where the bounds are whole hours, as starts of budget periods are. */
export async function sumCosts(database: Kysely<Database>, filter: LedgerFilter): Promise<bigint> {
  const sums = COST_COLUMNS.map(sumOfSums);
  const rolledUp = COST_COLUMNS.map(sumColumn);
  // Nothing but costs: the index has them, so no row is read.
  const parts = sql`select ${sql.join(LEDGER_COSTS)} from ledger where ${matches(filter, 'accepted_at_ms')}
    union all select ${sql.join(rolledUp)} from usage_rollups where ${matches(filter, 'hour_start_ms')}`;
  const { rows } = await sql<CostSum>`select ${sql.join(sums)} from (${parts}) as part`.execute(database);
  const [row] = rows;
  return row === undefined ? 0n : toCostPicoUsd(row);
}

export function toCostPicoUsd(row: CostSum): bigint {
  return BigInt(row.cost_milli_usd) * PICO_USD_PER_MILLI_USD + BigInt(row.cost_rest_pico_usd);
}

/** What the group of a row is of. */
export function toGroupNames(row: NamedRow): UsageGroupNames {
  return {
    ...(row.key_id === undefined ? {} : { keyId: row.key_id }),
    ...(row.model_id === undefined ? {} : { modelId: row.model_id }),
    ...(row.endpoint === undefined ? {} : { endpoint: row.endpoint }),
    ...(row.end_type === undefined ? {} : { end: row.end_type }),
    ...(row.start_ms === undefined ? {} : { startMs: Number(row.start_ms) }),
  };
}

/** Conditions on a row of the ledger; on one of the roll-ups with its hour as the time. */
export function matches(filter: LedgerFilter, time: TimeColumn): RawBuilder<boolean> {
  const { fromMs, toMs, keyId, modelId, endpoint } = filter;
  const conditions = [
    // First what is equal: an index of key and time serves it.
    ...(keyId === undefined ? [] : [sql`key_id = ${keyId}`]),
    ...(fromMs === undefined ? [] : [sql`${sql.ref(time)} >= ${fromMs}`]),
    ...(toMs === undefined ? [] : [sql`${sql.ref(time)} < ${toMs}`]),
    ...(modelId === undefined ? [] : [sql`model_id = ${modelId}`]),
    ...(endpoint === undefined ? [] : [sql`endpoint = ${endpoint}`]),
  ];
  return conditions.length === 0 ? sql<boolean>`1 = 1` : sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

function selectLedgerSums(filter: LedgerFilter, by: readonly UsageDimension[]): RawBuilder<unknown> {
  const sums = [sql`count(*) as requests`, ...TOKEN_COLUMNS.map(sumColumn), ...LEDGER_COSTS];
  return selectGrouped({ table: 'ledger', time: 'accepted_at_ms', filter, by, sums });
}

function selectRollupSums(filter: LedgerFilter, by: readonly UsageDimension[]): RawBuilder<unknown> {
  const sums = [...SUMMED_COLUMNS, ...COST_COLUMNS].map(sumColumn);
  return selectGrouped({ table: 'usage_rollups', time: 'hour_start_ms', filter, by, sums });
}

function sumOfSums(column: string): RawBuilder<unknown> {
  return sql`coalesce(sum(${sql.ref(column)}), 0) as ${sql.ref(column)}`;
}

function sumColumn(column: string): RawBuilder<unknown> {
  return sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`;
}

interface GroupedSelect {
  readonly table: 'ledger' | 'usage_rollups';
  readonly time: TimeColumn;
  readonly filter: LedgerFilter;
  readonly by: readonly UsageDimension[];
  readonly sums: readonly RawBuilder<unknown>[];
}

function selectGrouped({ table, time, filter, by, sums }: GroupedSelect): RawBuilder<unknown> {
  const columns = groupColumns(by);
  const shown = shownColumns(by, time);
  const groups = groupBy(columns.map((column) => sql.ref(column)));
  return sql`select ${sql.join([...shown, ...sums])} from ${sql.table(table)} where ${matches(filter, time)}${groups}`;
}

/** The columns of `groupColumns`, in their order, as they are selected from a table. */
export function shownColumns(by: readonly UsageDimension[], time: TimeColumn): readonly RawBuilder<unknown>[] {
  const unitMs = sql.lit(by.includes('minute') ? MINUTE_MS : by.includes('hour') ? HOUR_MS : DAY_MS);
  const start = sql`${sql.ref(time)} - ${sql.ref(time)} % ${unitMs} as start_ms`;
  return groupColumns(by).map((column) => (column === 'start_ms' ? start : sql.ref(column)));
}

export function groupBy(columns: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return columns.length === 0 ? sql`` : sql` group by ${sql.join(columns)}`;
}

/** Start of the hour, in UTC. */
export function startOfHour(atMs: number): number {
  return atMs - (atMs % HOUR_MS);
}
