// The suite of stores over a real PostgreSQL, and what only a server beyond a network can get wrong: several who start at
// once, connections that break, a server that goes and comes back.

import { Kysely } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NO_LIMITS } from '../../src/domain/api-key.ts';
import { StoreUnavailableError } from '../../src/domain/errors.ts';
import { ApiKeyService } from '../../src/services/keys/keys.ts';
import { openPostgresStores, type PostgresOptions } from '../../src/storage/postgres/open-postgres-stores.ts';
import { PostgresPoolDialect } from '../../src/storage/postgres/postgres-dialect.ts';
import { createPool } from '../../src/storage/postgres/postgres-pool.ts';
import type { Database } from '../../src/storage/schema.ts';
import { StorageError } from '../../src/storage/storage-error.ts';
import type { Reservation, Settlement, Stores } from '../../src/storage/stores.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { until } from '../waiting/until.ts';
import { describeStores } from './stores.suite.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const COST_PICO_USD = 1_000_000n;

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});

afterAll(async () => {
  await server.dispose();
});

function optionsFor(url: string, changes: Partial<PostgresOptions> = {}): PostgresOptions {
  return { url, poolSize: 5, connectTimeoutMs: 5000, statementTimeoutMs: 5000, ...changes };
}

describeStores('PostgreSQL', async () => {
  const options = optionsFor(await server.createDatabase());
  const stores = await openPostgresStores(options);
  return {
    stores,
    openAgain: () => openPostgresStores(options),
    remove: () => stores.close(),
  };
});

function reservation(id: string, changes: Partial<Reservation> = {}): Reservation {
  return {
    id,
    requestId: `request-${id}`,
    keyId: 'key_1',
    modelId: 'kev',
    endpoint: '/ai/v1/systemone',
    isStreamed: false,
    acceptedAtMs: NOW_MS,
    price: { inputMicroUsd: 37_800, cachedInputMicroUsd: 0, outputMicroUsd: 0 },
    instanceId: 'instance_1',
    demand: { costPicoUsd: COST_PICO_USD, tokens: 10, budget: null, limits: NO_LIMITS },
    idempotency: null,
    ...changes,
  };
}

function settlement(id: string): Settlement {
  const usage = { inputTokens: 10, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  const asked = { upstream: null, upstreamFailures: null };
  const outcome = { ...asked, status: 200, errorCode: null, isEstimated: false, durationMs: 5, waitMs: 1 };
  return { id, outcome: { ...outcome, end: 'completed', usage, costPicoUsd: COST_PICO_USD } };
}

/** What a failed call keeps nothing of, with the row it would have left. */
async function serveOne(stores: Stores, id: string): Promise<void> {
  expect(await stores.ledger.reserve(reservation(id))).toMatchObject({ type: 'reserved' });
  expect(await stores.ledger.settle(settlement(id))).toMatchObject({ type: 'settled' });
}

describe('opening a store on PostgreSQL', () => {
  it('is done by several processes at once, and the schema made once', async () => {
    const url = await server.createDatabase();
    const opened = await Promise.all(Array.from({ length: 8 }, () => openPostgresStores(optionsFor(url))));
    await Promise.all(opened.map((stores) => stores.close()));
    const versions = await server.query(url, 'select version from schema_migrations order by version');
    expect(versions).toEqual(versions.map((_, index) => ({ version: index + 1 })));
    expect(versions.length).toBeGreaterThan(1);
  });

  it('makes one first key, however many begin with an empty store', async () => {
    const url = await server.createDatabase();
    const opened = await Promise.all(Array.from({ length: 5 }, () => openPostgresStores(optionsFor(url))));
    const first = { name: 'initial', models: null, expiresAtMs: null };
    const made = await Promise.all(opened.map(({ keys }) => new ApiKeyService({ store: keys }).createFirst(first)));
    expect(made.filter((key) => key !== undefined)).toHaveLength(1);
    expect(await opened[0]?.keys.count()).toBe(1);
    await Promise.all(opened.map((stores) => stores.close()));
  });

  it('is refused when a newer version wrote it', async () => {
    const url = await server.createDatabase();
    await (await openPostgresStores(optionsFor(url))).close();
    await server.query(url, 'insert into schema_migrations values (99, 0)');
    await expect(openPostgresStores(optionsFor(url))).rejects.toThrow(/schema 99 .* newer umpire/);
  });

  it('can be told apart in the list of connections', async () => {
    const url = await server.createDatabase();
    const stores = await openPostgresStores(optionsFor(url));
    const names =
      'select distinct application_name as name from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()';
    expect(await server.query(url, names)).toEqual([{ name: 'umpire' }]);
    await stores.close();
    await stores.close();
  });

  it.each([
    ['the password is wrong', (url: string) => url.replace(':pass', ':word'), 'password authentication failed'],
    ['there is no such database', (url: string) => `${url}_missing`, 'does not exist'],
    ['nobody listens', (url: string) => url.replace(/:\d+\//, ':1/'), 'ECONNREFUSED'],
    ['the server has no TLS', (url: string) => `${url}?sslmode=require`, 'does not support SSL'],
  ])('says so in one sentence without a password when %s', async (_case, change, reason) => {
    const url = change(await server.createDatabase());
    const error = await openPostgresStores(optionsFor(url)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StorageError);
    const { message } = error as StorageError;
    expect(message).toMatch(/^The store on PostgreSQL \(127\.0\.0\.1:\d+\/case_\d+\w*\) cannot be used: [^\n]*\.$/);
    expect(message).toContain(reason);
    expect(message).not.toContain(decodeURIComponent(new URL(url).password));
  });

  it.each([
    ['prefer', 'sslmode must be one of'],
    ['verify-ca', 'needs sslrootcert'],
  ])('refuses sslmode=%s, which would not keep what it says', async (mode, reason) => {
    const url = `${await server.createDatabase()}?sslmode=${mode}`;
    await expect(openPostgresStores(optionsFor(url))).rejects.toThrow(reason);
  });
});

describe('a store on PostgreSQL', () => {
  let url: string;
  let stores: Stores;

  beforeEach(async () => {
    url = await server.createDatabase();
    stores = await openPostgresStores(optionsFor(url, { statementTimeoutMs: 2000 }));
  });

  afterEach(async () => {
    await stores.close();
  });

  const rows = () => server.query(url, 'select id, end_type from ledger order by id');
  const terminate = (condition: string) =>
    server.query(
      url,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'umpire' and datname = current_database() and ${condition}`,
    );

  /** Holds whoever wants to lock an account in the middle of a transaction. */
  async function holdAccounts<T>(use: () => Promise<T>): Promise<T> {
    const holder = await server.connect(url);
    try {
      await holder.query('begin; lock table accounts in access exclusive mode');
      return await use();
    } finally {
      await holder.end();
    }
  }

  const WAITS = `wait_event_type = 'Lock'`;

  async function untilSomebodyWaits(): Promise<void> {
    const count = `select 1 from pg_stat_activity where ${WAITS} and datname = current_database()`;
    await until('somebody waits for a lock', async () => (await server.query(url, count)).length > 0);
  }

  it('loses nothing but the call when its connection is cut in mid-transaction', async () => {
    await serveOne(stores, 'a');
    await holdAccounts(async () => {
      const cut = stores.ledger.reserve(reservation('b')).catch((error: unknown) => error);
      await untilSomebodyWaits();
      await terminate(WAITS);
      expect(await cut).toBeInstanceOf(StoreUnavailableError);
    });
    await serveOne(stores, 'c');
    expect(await rows()).toEqual(['a', 'c'].map((id) => ({ id, end_type: 'completed' })));
    expect(await server.query(url, 'select id from reservations')).toEqual([]);
  });

  it('gives up a statement that takes too long, and holds no lock for it afterwards', async () => {
    await serveOne(stores, 'a');
    await holdAccounts(async () => {
      await expect(stores.ledger.reserve(reservation('b'))).rejects.toThrow(StoreUnavailableError);
      const waiting = `select 1 from pg_stat_activity where ${WAITS}`;
      await until('nobody waits for a lock', async () => (await server.query(url, waiting)).length === 0);
    });
    await serveOne(stores, 'c');
    expect(await server.query(url, 'select in_flight from accounts')).toEqual([{ in_flight: '0' }]);
  });

  it('is not held up for long by a process that hangs in the middle of a transaction', async () => {
    await serveOne(stores, 'a');
    const pool = createPool({ url, maxConnections: 1, connectTimeoutMs: 5000 });
    const other = new Kysely<Database>({ dialect: new PostgresPoolDialect({ pool, statementTimeoutMs: 2000 }) });
    const locked = Promise.withResolvers<void>();
    const woken = Promise.withResolvers<void>();
    const hanging = other.transaction().execute(async (tables) => {
      await tables.selectFrom('accounts').selectAll().forUpdate().execute();
      locked.resolve();
      await woken.promise;
      await tables.updateTable('accounts').set({ spent_pico_usd: '0' }).execute();
    });
    await locked.promise;
    await serveOne(stores, 'b');
    woken.resolve();
    await expect(hanging).rejects.toThrow(StoreUnavailableError);
    expect(await server.query(url, 'select spent_pico_usd from accounts')).toEqual([{ spent_pico_usd: '2000000' }]);
    await pool.end();
  });

  it('works on when all its idle connections were cut', async () => {
    await Promise.all(Array.from({ length: 10 }, () => stores.keys.count()));
    await terminate('true');
    const ours = "select 1 from pg_stat_activity where application_name = 'umpire' and datname = current_database()";
    await until('all connections are gone', async () => (await server.query(url, ours)).length === 0);
    await serveOne(stores, 'a');
  });

  it('is unavailable while the server is away, and recovers by itself', async () => {
    await serveOne(stores, 'a');
    await server.stop();
    const calls = [
      () => stores.check(),
      () => stores.keys.count(),
      () => stores.ledger.reserve(reservation('b')),
      () => stores.ledger.settle(settlement('a')),
      () => stores.ledger.beat('instance_1', NOW_MS),
      () => stores.usage.sum({ fromMs: 0, toMs: NOW_MS + 1 }, ['key'], { offset: 0, limit: 10 }),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(StoreUnavailableError);
    await server.restart();
    for (const call of calls) await expect(call()).resolves.not.toThrow();
    await serveOne(stores, 'c');
  });

  it('has every settled row after a crash of the server', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `request_${String(index).padStart(2, '0')}`);
    await Promise.all(ids.map((id) => serveOne(stores, id)));
    await server.crash();
    await server.restart();
    expect(await rows()).toEqual(ids.map((id) => ({ id, end_type: 'completed' })));
    expect(await stores.usage.sum({ fromMs: 0, toMs: NOW_MS + 1 }, [], { offset: 0, limit: 1 })).toMatchObject([
      { requests: 50, costPicoUsd: 50n * COST_PICO_USD },
    ]);
  });

  it('is unavailable on a server that only reads, and leaves its connections for better ones', async () => {
    const alter = `alter database ${new URL(url).pathname.slice(1)}`;
    const outside = server.urlOf('postgres');
    await server.query(outside, `${alter} set default_transaction_read_only = on`);
    await expect(openPostgresStores(optionsFor(url))).rejects.toThrow(/read-only transaction\.$/);
    await terminate('true');
    await expect(stores.ledger.reserve(reservation('a'))).rejects.toThrow(StoreUnavailableError);
    await server.query(outside, `${alter} reset default_transaction_read_only`);
    await serveOne(stores, 'b');
  });

  it('tries again when transactions got into the way of each other', async () => {
    await server.query(url, 'create sequence conflicts');
    await server.query(
      url,
      `create function conflict() returns trigger language plpgsql as $$
       begin
         if nextval('conflicts') <= 3 then raise exception 'conflict' using errcode = '40P01'; end if;
         return new;
       end $$`,
    );
    await server.query(url, 'create trigger conflict before insert on ledger for each row execute function conflict()');
    await serveOne(stores, 'a');
    expect(await rows()).toEqual([{ id: 'a', end_type: 'completed' }]);
  });

  it('judges signs of life by its own clock, not by those of the machines', async () => {
    // Before the built-in one, a clock that is an hour ahead: as if this machine were an hour behind.
    await server.query(url, 'create schema ahead');
    await server.query(
      url,
      `create function ahead.clock_timestamp() returns timestamptz language sql as $$
       select pg_catalog.clock_timestamp() + interval '1 hour' $$`,
    );
    await server.query(
      server.urlOf('postgres'),
      `alter database ${new URL(url).pathname.slice(1)} set search_path = public, ahead, pg_catalog`,
    );
    const behind = await openPostgresStores(optionsFor(url));
    const beat = `insert into instances select $1, extract(epoch from clock_timestamp()) * 1000 - $2::int`;
    await server.query(url, beat, ['instance_alive', 10_000]);
    await server.query(url, beat, ['instance_dead', 20_000]);
    await behind.ledger.beat('instance_here', Date.now());
    for (const name of ['alive', 'dead', 'here'])
      await behind.ledger.reserve(reservation(name, { instanceId: `instance_${name}` }));
    const nowMs = Date.now();
    expect(await behind.ledger.recover(nowMs - 15_000, nowMs)).toBe(1);
    expect(await rows()).toEqual([{ id: 'dead', end_type: 'crashed' }]);
    await behind.close();
  });

  it('lets in exactly what a budget holds, through three processes at once', async () => {
    const budget = { amountPicoUsd: 40n * COST_PICO_USD + COST_PICO_USD - 1n, reset: 'none' as const };
    const demand = { costPicoUsd: COST_PICO_USD, tokens: 10, budget, limits: NO_LIMITS };
    const others = await Promise.all([openPostgresStores(optionsFor(url)), openPostgresStores(optionsFor(url))]);
    const processes = [stores, ...others];
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, async (_, index) => {
        const { ledger } = processes[index % processes.length] ?? stores;
        const { type } = await ledger.reserve(reservation(`request_${index}`, { demand }));
        if (type === 'reserved' && index % 2 === 0) await ledger.settle(settlement(`request_${index}`));
        return type;
      }),
    );
    expect(outcomes.filter((type) => type === 'reserved')).toHaveLength(40);
    expect(outcomes.filter((type) => type === 'refused')).toHaveLength(24);
    await Promise.all(others.map((other) => other.close()));
  });
});
