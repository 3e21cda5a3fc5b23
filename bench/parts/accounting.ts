// What keys, limits, budgets and the ledger cost: the added time of one decision, and how much the ledger carries, on
// SQLite and on a local PostgreSQL, each against a server with all of it off. The sides take turns, so that a busy machine
// disturbs all alike.

import { openStores } from '../../src/storage/open-stores.ts';
import { PostgresServer } from '../../test/postgres/postgres-server.ts';
import { joinRuns, runClosedLoop } from '../load/closed-loop.ts';
import { type LatencySummary, summariseLatencies } from '../load/statistics.ts';
import { type DecisionSize, decisionJob, type Work } from '../load/workload.ts';
import { withFolder } from '../machine/folder.ts';
import { type Cell, formatTable } from '../pages/table.ts';
import { judge } from '../pages/target.ts';
import { type Fleet, type Member, withServers } from '../servers/fleet.ts';
import type { Server } from '../servers/server.ts';
import { umpire, WITHOUT_CACHES } from '../servers/umpire.ts';
import { measureLedgerRows } from './ledger-rows.ts';

const STORES = ['sqlite', 'postgres'] as const;
type StoreName = (typeof STORES)[number];
type Side = 'off' | StoreName;

const NAMES: Readonly<Record<StoreName, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };
/** Of the issue that brought the ledger. */
export const ACCOUNTING_TARGETS = {
  addedMs: { sqlite: { p50: 0.5, p99: 2 }, postgres: { p50: 2, p99: 6 } },
  sqliteRowsPerSecond: 2000,
} as const;
const WARM_UP = 50;
const LEDGER_CONCURRENCY = 64;
const STACK_CONCURRENCY = 32;
/** As a server that is meant to keep its data. */
const SAFE_POSTGRES = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
const ONE_QUESTION_128: DecisionSize = { stateTokens: 128, questions: 1, kind: 'choice' };

export type AccountingFigures = Awaited<ReturnType<typeof measureAccounting>>;

/** @param say tells what is being measured */
export async function measureAccounting(isQuick: boolean, say: (text: string) => void) {
  const postgres = await PostgresServer.start(SAFE_POSTGRES);
  const newDatabase = () => postgres.createDatabase();
  try {
    say('a decision with accounting and without');
    const decision = await withServers(listSides(await newDatabase(), []), (_, fleet) =>
      isQuick ? timeInTurns(fleet, 5, 20) : timeInTurns(fleet, 60, 50),
    );
    say('rows of the ledger');
    const durationMs = isQuick ? 2000 : 20_000;
    const ledger = {
      sqlite: await measureLedger(undefined, durationMs),
      postgres: await measureLedger(await newDatabase(), durationMs),
    };
    say('requests of a server without a model');
    const stack = await withServers(listSides(await newDatabase(), ['model']), (sides, fleet) =>
      measureStacks(sides, fleet, isQuick),
    );
    const addedBy = (store: StoreName) => subtract(decision[store], decision.off);
    /** `decision`: 128 tokens, one question, one client; `stack`: the same around an engine that answers at once. */
    return { decision, added: { sqlite: addedBy('sqlite'), postgres: addedBy('postgres') }, ledger, stack };
  } finally {
    await postgres.dispose();
  }
}

/** Percentiles with accounting minus the same percentiles without. */
function subtract(on: LatencySummary, off: LatencySummary) {
  return { p50Ms: on.p50Ms - off.p50Ms, p95Ms: on.p95Ms - off.p95Ms, p99Ms: on.p99Ms - off.p99Ms };
}

/** All three run at once; only the one that is asked works. @param without what all of them lack */
function listSides(databaseUrl: string, without: readonly 'model'[]): Readonly<Record<Side, Server>> {
  // All run without probes in between; around no model, what is kept of answers is left out too.
  const settings = {
    UMPIRE_ENGINE_PROBE_INTERVAL_MS: '0',
    ...(without.length > 0 ? WITHOUT_CACHES : {}),
  };
  const onPostgres = { ...settings, UMPIRE_DATABASE_URL: databaseUrl };
  const metered = { hasLimits: true, ...(without.length > 0 ? { without } : {}) };
  return {
    off: umpire({ settings, without: [...without, 'accounting'] }),
    sqlite: umpire({ settings, ...metered }),
    postgres: umpire({ settings: onPostgres, ...metered }),
  };
}

/** One request at a time, and one server at a time. */
async function timeInTurns(fleet: Fleet, rounds: number, samplesPerRound: number) {
  const next = () => decisionJob(ONE_QUESTION_128);
  await fleet.inTurns(1, ({ client }) => client.askInTurn(WARM_UP, next));
  const replies = await fleet.inTurns(rounds, ({ client }) => client.askInTurn(samplesPerRound, next));
  const summarise = (side: Side): LatencySummary =>
    summariseLatencies((replies.get(side) ?? []).flat().map(({ latencyMs }) => latencyMs));
  return { off: summarise('off'), sqlite: summarise('sqlite'), postgres: summarise('postgres') };
}

/** Requests reserved and settled through the store's interface. */
async function measureLedger(url: string | undefined, durationMs: number) {
  const pool = { poolSize: 10, connectTimeoutMs: 3000, statementTimeoutMs: 5000 };
  const postgres = url === undefined ? undefined : { url, ...pool };
  return await withFolder(async (dataDir) => {
    const stores = await openStores({ dataDir, exclusive: true, postgres });
    try {
      return await measureLedgerRows(stores.ledger, { concurrency: LEDGER_CONCURRENCY, durationMs });
    } finally {
      await stores.close();
    }
  });
}

/** Decisions through HTTP, services, accounting and store, with an engine that answers at once. */
async function measureStacks(sides: Readonly<Record<Side, Member>>, fleet: Fleet, isQuick: boolean) {
  const [rounds, samplesPerRound, durationMs] = isQuick ? [5, 50, 2000] : [60, 50, 10_000];
  /** One client, in turns with the other sides. */
  const alone = await timeInTurns(fleet, rounds, samplesPerRound);
  const next = (): Work => ({ job: decisionJob(ONE_QUESTION_128), tokens: 0, group: '' });
  const measure = async (side: Side) => {
    const { client } = sides[side];
    const loop = { client, next, concurrency: STACK_CONCURRENCY, durationMs, leastReplies: 100 };
    const { requestsPerSecond, latency, errors, refused } = joinRuns([await runClosedLoop(loop)]);
    const failed = errors + refused;
    return { alone: alone[side], concurrency: STACK_CONCURRENCY, requestsPerSecond, latency, errors: failed };
  };
  return { off: await measure('off'), sqlite: await measure('sqlite'), postgres: await measure('postgres') };
}

export function formatAccounting({ decision, added, ledger, stack }: AccountingFigures): string {
  const listAdded = (store: StoreName): Cell[][] => [
    [`keys, limits, budget and ledger on ${NAMES[store]}: p50`, decision[store].p50Ms, 'ms', ''],
    ['  added at p50', added[store].p50Ms, 'ms', judge(added[store].p50Ms, '≤', ACCOUNTING_TARGETS.addedMs[store].p50)],
    ['  added at p95', added[store].p95Ms, 'ms', ''],
    ['  added at p99', added[store].p99Ms, 'ms', judge(added[store].p99Ms, '≤', ACCOUNTING_TARGETS.addedMs[store].p99)],
  ];
  const listRows = (store: StoreName): Cell[] => {
    const { rowsPerSecond, concurrency } = ledger[store];
    const target = store === 'sqlite' ? judge(rowsPerSecond, '≥', ACCOUNTING_TARGETS.sqliteRowsPerSecond) : '';
    return [`ledger rows on ${NAMES[store]}, ${concurrency} callers`, rowsPerSecond, '1/s', target];
  };
  const { off, sqlite, postgres } = stack;
  return formatTable([
    ['accounting', 'value', 'unit', 'target'],
    ['decision, 128 tokens, all of it off: p50', decision.off.p50Ms, 'ms', ''],
    ['  p95', decision.off.p95Ms, 'ms', ''],
    ['  p99', decision.off.p99Ms, 'ms', ''],
    ...STORES.flatMap(listAdded),
    ...STORES.map(listRows),
    ['request without a model, 1 client, all of it off: p50', off.alone.p50Ms, 'ms', ''],
    ...STORES.flatMap((store): Cell[][] => [
      [`  added on ${NAMES[store]} at p50`, stack[store].alone.p50Ms - off.alone.p50Ms, 'ms', ''],
      [`  added on ${NAMES[store]} at p99`, stack[store].alone.p99Ms - off.alone.p99Ms, 'ms', ''],
    ]),
    [`requests without a model, ${off.concurrency} clients: all of it off`, off.requestsPerSecond, '1/s', ''],
    ...STORES.map((store): Cell[] => [`  ${NAMES[store]}`, stack[store].requestsPerSecond, '1/s', '']),
    ['  not answered with 200', off.errors + sqlite.errors + postgres.errors, '', ''],
  ]);
}
