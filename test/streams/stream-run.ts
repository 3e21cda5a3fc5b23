// Many chat streams at once through a server process, in front of an upstream that is a process too; a third of the
// clients leave somewhere. Brings everything to rest and hands over what each side kept.

import { Agent } from 'node:http';
import { join } from 'node:path';
import { RandomSource } from '../models/random-source.ts';
import { ADMIN_KEY } from '../money/fleet.ts';
import { issueKey } from '../money/issue-key.ts';
import { SqliteMoneyStore } from '../money/money-store.ts';
import { type Exit, ServerProcess } from '../process/server-process.ts';
import { until } from '../waiting/until.ts';
import { ask, type ClientRecord, type ServerAccess } from './leaving-client.ts';
import { RecordedUpstream } from './recorded-upstream-process.ts';
import { STREAM_ROWS, type StreamBooks, toStreamRow } from './stream-books.ts';
import { makeOrder, POLICIES, PRICE, retryIdOf } from './stream-order.ts';

export interface StreamRunOptions {
  readonly streams: number;
  readonly clients: number;
  readonly seed: number;
}

export interface AccountRow {
  readonly keyId: string;
  readonly spentPicoUsd: bigint;
  readonly reservedPicoUsd: bigint;
  readonly inFlight: bigint;
}

export interface StreamRun extends StreamBooks {
  readonly accounts: readonly AccountRow[];
  readonly openReservations: number;
  readonly elapsedMs: number;
  readonly exit: Exit;
  /** Lines of the server's log that tell a fault of its own. */
  readonly serverFaults: readonly string[];
}

const TINY_MODEL = join(import.meta.dirname, '..', 'fixtures', 'tiny-embedding');
/** Never reached, but always counted against. */
const BUDGET_PICO_USD = 1_000_000n * 10n ** 12n;

export async function runStreams({ streams, clients, seed }: StreamRunOptions): Promise<StreamRun> {
  const store = new SqliteMoneyStore();
  const upstream = await RecordedUpstream.start();
  const server = new ServerProcess({ ...store.settings, ...settingsFor(upstream) });
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  try {
    const address = await server.ready();
    const keys = [await issueKey(address, { budgetPicoUsd: BUDGET_PICO_USD }), await issueKey(address)];
    const access: ServerAccess = { address, agent, secrets: keys.map(({ secret }) => secret) };
    const random = new RandomSource(seed);
    const orders = Array.from({ length: streams }, (_, index) => makeOrder(`stream-${index}`, random, keys.length));
    const startedMs = performance.now();
    const records: ClientRecord[] = [];
    const next = orders.values();
    const client = async (): Promise<void> => {
      for (const order of next) records.push(await ask(order, access));
    };
    await Promise.all(Array.from({ length: clients }, client));
    await atRest(store, upstream);
    const elapsedMs = performance.now() - startedMs;
    const retries = await retryLeft(records, access);
    agent.destroy();
    // Connections that are kept for the next request close by themselves when there is none.
    await upstream.ask('lonely');
    const exit = await server.stop();
    return {
      clients: records,
      retries,
      upstream: await upstream.ask('records'),
      rows: (await store.query(STREAM_ROWS)).map(toStreamRow),
      accounts: await readAccounts(store),
      openReservations: (await store.query('SELECT id FROM reservations')).length,
      elapsedMs,
      exit,
      serverFaults: server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line)),
    };
  } finally {
    agent.destroy();
    await server.dispose();
    await upstream.stop();
    await store.dispose();
  }
}

function settingsFor({ baseUrl }: RecordedUpstream) {
  const upstreams = POLICIES.map((policy) => ({
    checkAtStart: false,
    name: policy,
    baseUrl,
    whenClientLeaves: policy,
    models: [
      {
        id: policy,
        inputMicroUsdPerMillionTokens: PRICE.input,
        cachedInputMicroUsdPerMillionTokens: PRICE.cached,
        outputMicroUsdPerMillionTokens: PRICE.output,
      },
    ],
  }));
  return { UMPIRE_API_KEY: ADMIN_KEY, UMPIRE_MODELS: TINY_MODEL, UMPIRE_UPSTREAMS: JSON.stringify(upstreams) };
}

/** Until the upstream says nothing any more and every call has its row. */
async function atRest(store: SqliteMoneyStore, upstream: RecordedUpstream): Promise<void> {
  await until('every call has its row', async () => {
    await upstream.ask('quiet');
    return (await store.query('SELECT id FROM reservations LIMIT 1')).length === 0;
  });
}

async function retryLeft(records: readonly ClientRecord[], access: ServerAccess): Promise<ClientRecord[]> {
  const retries: ClientRecord[] = [];
  for (const { order, hasLeft } of records) {
    const isKept = order.idempotencyKey !== undefined && order.plan.breaksAfter === null;
    if (hasLeft && isKept) retries.push(await ask({ ...order, cut: undefined }, access, retryIdOf(order)));
  }
  return retries;
}

async function readAccounts(store: SqliteMoneyStore): Promise<AccountRow[]> {
  const rows = await store.query('SELECT key_id, spent_pico_usd, reserved_pico_usd, in_flight FROM accounts');
  const amount = (value: unknown): bigint => BigInt(String(value));
  return rows.map((row) => ({
    keyId: String(row['key_id']),
    spentPicoUsd: amount(row['spent_pico_usd']),
    reservedPicoUsd: amount(row['reserved_pico_usd']),
    inFlight: amount(row['in_flight']),
  }));
}
