// Reports over the ledger: sums, single rows, and the roll-up of old rows. Who may ask for what is not decided here.

import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import type { LedgerRow } from '../domain/ledger.ts';
import type {
  EndedPlace,
  LatencyGroup,
  LatencyQuery,
  UsageDimension,
  UsageFilter,
  UsageGroup,
} from '../domain/usage-report.ts';
import { ENDED_AT } from './ledger-by-end.ts';
import { type LatencyRow, selectLatency, toLatencyGroup } from './ledger-latency.ts';
import { toLedgerRow } from './ledger-row.ts';
import {
  groupColumns,
  matches,
  PICO_USD_PER_MILLI_USD,
  type SummedRow,
  selectSums,
  startOfHour,
  toCostPicoUsd,
  toGroupNames,
} from './ledger-sums.ts';
import type { Database, LedgerTable } from './schema.ts';
import type { UsageStore } from './stores.ts';

/** Twelve columns each, within what a statement may have of parameters. */
const ROLLUPS_PER_INSERT = 500;

export class KyselyUsageStore implements UsageStore {
  readonly #database: Kysely<Database>;

  constructor(database: Kysely<Database>) {
    this.#database = database;
  }

  async sum(
    filter: UsageFilter,
    by: readonly UsageDimension[],
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly UsageGroup[]> {
    const columns = groupColumns(by).map((column) => sql.ref(column));
    const order = columns.length === 0 ? sql`` : sql`order by ${sql.join(columns)}`;
    const query = sql<SummedRow>`${selectSums(filter, by)} ${order} limit ${page.limit} offset ${page.offset}`;
    const { rows } = await query.execute(this.#database);
    return rows.map(toGroup);
  }

  async rows(
    filter: UsageFilter,
    page: {
      readonly before: { readonly acceptedAtMs: number; readonly id: string } | undefined;
      readonly limit: number;
    },
  ): Promise<readonly LedgerRow[]> {
    const { before, limit } = page;
    let query = this.#database.selectFrom('ledger').selectAll().where(matches(filter, 'accepted_at_ms'));
    if (before !== undefined)
      query = query.where(sql<boolean>`(accepted_at_ms, id) < (${before.acceptedAtMs}, ${before.id})`);
    const rows = await query.orderBy('accepted_at_ms', 'desc').orderBy('id', 'desc').limit(limit).execute();
    return rows.map(toLedgerRow);
  }

  async latency(
    query: LatencyQuery,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly LatencyGroup[]> {
    const select = sql`${selectLatency(query)} limit ${page.limit} offset ${page.offset}`;
    const { rows } = await sql<LatencyRow>`${select}`.execute(this.#database);
    return rows.map(toLatencyGroup);
  }

  async ended(
    { after, untilMs }: { readonly after: EndedPlace; readonly untilMs: number },
    { last, limit }: { readonly last: boolean; readonly limit: number },
  ): Promise<readonly LedgerRow[]> {
    const { endedAtMs, id } = after;
    const direction = last ? 'desc' : 'asc';
    const rows = await this.#database
      .selectFrom('ledger')
      .selectAll()
      // The bound by itself first: an index serves it.
      .where(sql<boolean>`${ENDED_AT} >= ${endedAtMs} and ${ENDED_AT} < ${untilMs}`)
      .where(sql<boolean>`(${ENDED_AT} > ${endedAtMs} or id > ${id})`)
      .orderBy(ENDED_AT, direction)
      .orderBy('id', direction)
      .limit(limit)
      .execute();
    const found = rows.map(toLedgerRow);
    return last ? found.reverse() : found;
  }

  async rollUp(beforeMs: number, limit: number): Promise<number> {
    return await this.#database.transaction().execute(async (transaction) => {
      const rows = await takeOldest(transaction, startOfHour(beforeMs), limit);
      const rollups = sumByHour(rows);
      for (let from = 0; from < rollups.length; from += ROLLUPS_PER_INSERT)
        await addRollups(transaction, rollups.slice(from, from + ROLLUPS_PER_INSERT));
      return rows.length;
    });
  }
}

const ROLLED_UP_COLUMNS = [
  'accepted_at_ms',
  'key_id',
  'model_id',
  'endpoint',
  'end_type',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost_pico_usd',
] as const;

type OldRow = Pick<Selectable<LedgerTable>, (typeof ROLLED_UP_COLUMNS)[number]>;

/** Deletes first and is told what it deleted: of two processes at the same rows, each sums only those that it got. */
function takeOldest(transaction: Transaction<Database>, beforeMs: number, limit: number): Promise<OldRow[]> {
  return transaction
    .deleteFrom('ledger')
    .where('id', 'in', (from) =>
      from
        .selectFrom('ledger')
        .select('id')
        .where('accepted_at_ms', '<', beforeMs)
        .orderBy('accepted_at_ms')
        .orderBy('id')
        .limit(limit),
    )
    .returning(ROLLED_UP_COLUMNS)
    .execute();
}

interface Rollup {
  readonly hour_start_ms: number;
  readonly key_id: string;
  readonly model_id: string;
  readonly endpoint: string;
  readonly end_type: string;
  requests: number;
  input_tokens: bigint;
  cached_tokens: bigint;
  output_tokens: bigint;
  reasoning_tokens: bigint;
  cost_milli_usd: bigint;
  cost_rest_pico_usd: bigint;
}

/** Ordered, so that processes which add to the same roll-ups lock them in the same order. */
function sumByHour(rows: readonly OldRow[]): Rollup[] {
  const rollups = new Map<string, Rollup>();
  for (const row of rows) {
    const { key_id, model_id, endpoint, end_type } = row;
    const hour_start_ms = startOfHour(Number(row.accepted_at_ms));
    const name = JSON.stringify([hour_start_ms, key_id, model_id, endpoint, end_type]);
    const rollup = rollups.get(name) ?? { hour_start_ms, key_id, model_id, endpoint, end_type, ...NOTHING };
    rollups.set(name, rollup);
    const cost = BigInt(row.cost_pico_usd);
    rollup.requests++;
    rollup.input_tokens += BigInt(row.input_tokens);
    rollup.cached_tokens += BigInt(row.cached_tokens);
    rollup.output_tokens += BigInt(row.output_tokens);
    rollup.reasoning_tokens += BigInt(row.reasoning_tokens);
    rollup.cost_milli_usd += cost / PICO_USD_PER_MILLI_USD;
    rollup.cost_rest_pico_usd += cost % PICO_USD_PER_MILLI_USD;
  }
  return [...rollups].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, rollup]) => rollup);
}

const NOTHING = {
  requests: 0,
  input_tokens: 0n,
  cached_tokens: 0n,
  output_tokens: 0n,
  reasoning_tokens: 0n,
  cost_milli_usd: 0n,
  cost_rest_pico_usd: 0n,
} as const;

async function addRollups(transaction: Transaction<Database>, rollups: readonly Rollup[]): Promise<void> {
  await transaction
    .insertInto('usage_rollups')
    .values(rollups)
    .onConflict((conflict) =>
      conflict.columns(['hour_start_ms', 'key_id', 'model_id', 'endpoint', 'end_type']).doUpdateSet({
        requests: added('requests'),
        input_tokens: added('input_tokens'),
        cached_tokens: added('cached_tokens'),
        output_tokens: added('output_tokens'),
        reasoning_tokens: added('reasoning_tokens'),
        cost_milli_usd: added('cost_milli_usd'),
        cost_rest_pico_usd: added('cost_rest_pico_usd'),
      }),
    )
    .execute();
}

function added(column: keyof typeof NOTHING): RawBuilder<bigint> {
  return sql<bigint>`${sql.ref(`usage_rollups.${column}`)} + ${sql.ref(`excluded.${column}`)}`;
}

function toGroup(row: SummedRow): UsageGroup {
  return {
    ...toGroupNames(row),
    requests: Number(row.requests),
    inputTokens: BigInt(row.input_tokens),
    cachedTokens: BigInt(row.cached_tokens),
    outputTokens: BigInt(row.output_tokens),
    reasoningTokens: BigInt(row.reasoning_tokens),
    costPicoUsd: toCostPicoUsd(row),
  };
}
