// What keys, limits, budgets and the ledger cost: the added time of one decision, and how much the ledger carries, on
// SQLite and on a local PostgreSQL, each against a server with all of it off. The sides take turns, so that a busy machine
// disturbs all alike.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStores } from '../../src/storage/open-stores.ts';
import { PostgresServer } from '../../test/postgres/postgres-server.ts';
import { BenchClient } from '../load/client.ts';
import { runClosedLoop } from '../load/load.ts';
import { type LatencySummary, summariseLatencies } from '../load/statistics.ts';
import { type DecisionSize, type Mix, makeDecision } from '../load/workload.ts';
import { API_KEY, ServerProcess } from '../servers/child-processes.ts';
import { createMeteredKey, type Place } from '../servers/metered-key.ts';
import { type LedgerRows, measureLedgerRows } from './ledger-rows.ts';
import { timeDecisions } from './overhead.ts';

export const STORES = ['sqlite', 'postgres'] as const;
export type StoreName = (typeof STORES)[number];
type Side = 'off' | StoreName;

/** Percentile with accounting minus the same percentile without. */
export interface AddedTime {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

export interface StackFigures {
  /** One client, in turns with the other sides. */
  readonly alone: LatencySummary;
  /** Clients of the figures below. */
  readonly concurrency: number;
  readonly requestsPerSecond: number;
  readonly latency: LatencySummary;
  readonly errors: number;
}

export interface AccountingReport {
  /** 128 tokens, one question, one client. */
  readonly decision: Readonly<Record<Side, LatencySummary>>;
  readonly added: Readonly<Record<StoreName, AddedTime>>;
  /** Requests reserved and settled through the store's interface. */
  readonly ledger: Readonly<Record<StoreName, LedgerRows>>;
  /** Decisions through HTTP, services, accounting and store, with an engine that answers at once. */
  readonly stack: Readonly<Record<Side, StackFigures>>;
}

type Places = Readonly<Record<Side, Place>>;
type Clients = Readonly<Record<Side, BenchClient>>;

const SIDES: readonly Side[] = ['off', ...STORES];
const SIZE: DecisionSize = { stateTokens: 128, questions: 1, kind: 'choice' };
const WARM_UP = 50;
const LEDGER_CONCURRENCY = 64;
const STACK_CONCURRENCY = 32;
/** As a server that is meant to keep its data. */
const SAFE_POSTGRES = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
/** @param say tells what is being measured */
export async function measureAccounting(isQuick: boolean, say: (text: string) => void): Promise<AccountingReport> {
  const parent = mkdtempSync(join(tmpdir(), 'umpire-accounting-'));
  const postgres = await PostgresServer.start(SAFE_POSTGRES);
  try {
    const openPlaces = async (name: string): Promise<Places> => ({
      off: openPlace(join(parent, `${name}-off`)),
      sqlite: openPlace(join(parent, `${name}-sqlite`)),
      postgres: openPlace(join(parent, `${name}-postgres`), await postgres.createDatabase()),
    });
    say('a decision with accounting and without');
    const decision = await measureDecisions(await openPlaces('decision'), isQuick);
    say('rows of the ledger');
    const ledger = await measureLedgers(await openPlaces('ledger'), isQuick);
    say('requests of a server without a model');
    const stack = await measureStacks(await openPlaces('stack'), isQuick);
    const added = {
      sqlite: subtract(decision.sqlite, decision.off),
      postgres: subtract(decision.postgres, decision.off),
    };
    return { decision, added, ledger, stack };
  } finally {
    await postgres.dispose();
    rmSync(parent, { recursive: true, force: true });
  }
}

function openPlace(dataDir: string, databaseUrl?: string): Place {
  mkdirSync(dataDir, { mode: 0o700 });
  // Optimised graphs are kept beside the data of each side, and all sides run without probes in between.
  const settings = { UMPIRE_ENGINE_CACHE_DIR: join(dataDir, 'cache'), UMPIRE_ENGINE_PROBE_INTERVAL_MS: '0' };
  return {
    dataDir,
    settings: databaseUrl === undefined ? settings : { ...settings, UMPIRE_DATABASE_URL: databaseUrl },
  };
}

function subtract(on: LatencySummary, off: LatencySummary): AddedTime {
  return { p50Ms: on.p50Ms - off.p50Ms, p95Ms: on.p95Ms - off.p95Ms, p99Ms: on.p99Ms - off.p99Ms };
}

async function measureDecisions(places: Places, isQuick: boolean): Promise<AccountingReport['decision']> {
  const [rounds, samplesPerRound] = isQuick ? [5, 20] : [60, 50];
  return await withClients(
    {
      off: ['bench/servers/unmetered-server.ts'],
      sqlite: ['src/launch.js', 'serve'],
      postgres: ['src/launch.js', 'serve'],
    },
    places,
    (clients) => timeInTurns(clients, rounds, samplesPerRound),
  );
}

/** One request at a time, and one server at a time. */
async function timeInTurns(clients: Clients, rounds: number, samplesPerRound: number) {
  for (const side of SIDES) await timeDecisions(clients[side], SIZE, WARM_UP);
  const samplesMs: Record<Side, number[]> = { off: [], sqlite: [], postgres: [] };
  for (let round = 0; round < rounds; round++) {
    // Nobody always comes first, nor always after the same one.
    const order = SIDES.map((_, turn) => SIDES[(turn + round) % SIDES.length] ?? 'off');
    for (const side of round % 2 === 0 ? order : order.toReversed()) {
      samplesMs[side].push(...(await timeDecisions(clients[side], SIZE, samplesPerRound)));
    }
  }
  return perSide((side) => summariseLatencies(samplesMs[side]));
}

async function measureLedgers(places: Places, isQuick: boolean): Promise<AccountingReport['ledger']> {
  const measure = async ({ dataDir, settings }: Place): Promise<LedgerRows> => {
    const url = settings['UMPIRE_DATABASE_URL'];
    const postgres =
      url === undefined ? undefined : { url, poolSize: 10, connectTimeoutMs: 3000, statementTimeoutMs: 5000 };
    const stores = await openStores({ dataDir, exclusive: true, postgres });
    try {
      const load = { concurrency: LEDGER_CONCURRENCY, durationMs: isQuick ? 2000 : 20_000 };
      return await measureLedgerRows(stores.ledger, load);
    } finally {
      await stores.close();
    }
  };
  return { sqlite: await measure(places.sqlite), postgres: await measure(places.postgres) };
}

async function measureStacks(places: Places, isQuick: boolean): Promise<AccountingReport['stack']> {
  const metered = ['bench/servers/null-engine-server.ts'];
  return await withClients(
    { off: [...metered, 'unmetered'], sqlite: metered, postgres: metered },
    places,
    async (clients) => {
      const [rounds, samplesPerRound, durationMs] = isQuick ? [5, 50, 2000] : [60, 50, 10_000];
      const alone = await timeInTurns(clients, rounds, samplesPerRound);
      const makeBody = (): string => JSON.stringify(makeDecision(SIZE));
      const mix: Mix = { name: 'decide 128 × 1', path: '/ai/v1/systemone', makeBody };
      const results = new Map<Side, StackFigures>();
      for (const side of SIDES) {
        const limits = { concurrency: STACK_CONCURRENCY, durationMs, minSamples: 100, maxDurationMs: 10 * durationMs };
        const { requestsPerSecond, latency, errors, refused } = await runClosedLoop({
          client: clients[side],
          mix,
          ...limits,
        });
        const failed = errors + refused;
        results.set(side, {
          alone: alone[side],
          concurrency: STACK_CONCURRENCY,
          requestsPerSecond,
          latency,
          errors: failed,
        });
      }
      return perSide((side) => {
        const result = results.get(side);
        if (result === undefined) throw new Error(`${side} was not measured.`);
        return result;
      });
    },
  );
}

function perSide<T>(make: (side: Side) => T): Record<Side, T> {
  return { off: make('off'), sqlite: make('sqlite'), postgres: make('postgres') };
}

/** All three servers at once; only the one that is asked works. */
async function withClients<T>(
  entries: Readonly<Record<Side, readonly string[]>>,
  places: Places,
  use: (clients: Clients) => Promise<T>,
): Promise<T> {
  const servers: ServerProcess[] = [];
  const clients: BenchClient[] = [];
  const start = async (side: Side): Promise<BenchClient> => {
    const { dataDir, settings } = places[side];
    const server = await ServerProcess.start(dataDir, { settings, command: entries[side] });
    servers.push(server);
    const client = new BenchClient(
      server.origin,
      side === 'off' ? API_KEY : createMeteredKey(places[side]),
      STACK_CONCURRENCY,
    );
    clients.push(client);
    return client;
  };
  try {
    const sides = { off: await start('off'), sqlite: await start('sqlite'), postgres: await start('postgres') };
    const result = await Promise.race([use(sides), ...servers.map(({ lost }) => lost)]);
    for (const client of clients.splice(0)) await client.close();
    for (const server of servers.splice(0)) await server.stop();
    return result;
  } finally {
    for (const server of servers) server.kill();
  }
}
