// Moving between the databases: everything arrives, reports are the same, and nothing is left where it cannot be whole.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { UsageDimension } from '../../src/domain/usage-report.ts';
import { openPostgresStores } from '../../src/storage/postgres/open-postgres-stores.ts';
import { openSqliteStores } from '../../src/storage/sqlite/open-sqlite-stores.ts';
import type { StoreLocation } from '../../src/storage/store-connection.ts';
import { checkStore, copyBetweenStores } from '../../src/storage/store-tools.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { until } from '../waiting/until.ts';
import { dumpFolder, fillStores, settleAll } from './filled-store.ts';
import { NOW_MS } from './ledger-fixture.ts';

const EVER = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const ALL = { offset: 0, limit: 100_000 };

let server: PostgresServer;
let folder: string;
let dataDir: string;
let url: string;

beforeAll(async () => {
  server = await PostgresServer.start();
});

afterAll(() => server.dispose());

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-copy-'));
  dataDir = join(folder, 'data');
  url = await server.createDatabase();
});

afterEach(() => rmSync(folder, { recursive: true }));

const sqlite = (where = dataDir) => ({ type: 'sqlite', dataDir: where }) as const;
const postgres = () => ({ type: 'postgres', url, connectTimeoutMs: 10_000 }) as const;
const openSqlite = () => openSqliteStores({ dataDir, exclusive: true });
const openPostgres = () =>
  openPostgresStores({ url, poolSize: 2, connectTimeoutMs: 10_000, statementTimeoutMs: 30_000 });

async function using<T>(stores: Stores, use: (stores: Stores) => Promise<T>): Promise<T> {
  try {
    return await use(stores);
  } finally {
    await stores.close();
  }
}

/** Everything that can be asked of a store, as it answers. */
async function report({ usage, keys, prices, audit }: Stores): Promise<unknown> {
  const dimensions: UsageDimension[][] = [[], ['key'], ['model', 'day'], ['key', 'model', 'endpoint', 'end', 'hour']];
  return {
    sums: await Promise.all(dimensions.map((by) => usage.sum(EVER, by, ALL))),
    ofOneKey: await usage.sum({ ...EVER, keyId: 'key_1' }, ['model'], ALL),
    rows: await usage.rows(EVER, { before: undefined, limit: 1000 }),
    keys: await keys.list(),
    prices: await prices.list(),
    audit: await audit.list({ before: undefined, limit: 1000 }),
  };
}

const copy = (source: StoreLocation, target: StoreLocation, nowMs = NOW_MS + 3_600_000) =>
  copyBetweenStores(source, target, nowMs);

describe('a copy', () => {
  it('to PostgreSQL has every row and the same reports, and the server goes on there', async () => {
    const before = await using(await openSqlite(), async (stores) => {
      await fillStores(stores);
      return await report(stores);
    });
    const { tables, costPicoUsd } = await copy(sqlite(), postgres());
    const dump = dumpFolder(dataDir);
    expect(Object.fromEntries(tables.map(({ table, rows }) => [table, rows]))).toEqual(
      Object.fromEntries(
        Object.entries(dump).flatMap(([name, rows]) =>
          name === 'schema_migrations' || name === 'instances' ? [] : [[name, rows.length]],
        ),
      ),
    );
    expect(tables.every(({ rows }) => rows > 0)).toBe(true);
    await using(await openPostgres(), async (stores) => {
      expect(await report(stores)).toEqual(before);
      const [total] = await stores.usage.sum(EVER, [], ALL);
      expect(total?.costPicoUsd).toBe(costPicoUsd);
      await stores.audit.append({ atMs: NOW_MS, actor: 'server', action: 'after', target: 'copy', details: {} });
      await settleAll(stores, ['after the copy']);
      expect(await stores.ledger.recover(Number.MAX_SAFE_INTEGER, NOW_MS)).toBe(1);
    });
    expect((await checkStore(postgres())).books).toMatchObject({ faults: [], ledgerRows: 55, openReservations: 0 });
  });

  it('to PostgreSQL and back is the same file to the last value', async () => {
    await using(await openSqlite(), fillStores);
    await copy(sqlite(), postgres());
    await using(await openPostgres(), (stores) => stores.ledger.beat('instance_2', NOW_MS));
    const other = join(folder, 'other');
    await copy(postgres(), sqlite(other));
    const { schema_migrations: _steps, instances: _processes, ...before } = dumpFolder(dataDir);
    const { schema_migrations: _newSteps, instances: none, ...after } = dumpFolder(other);
    expect(after).toEqual(before);
    expect(none).toEqual([]);
  });

  it('takes more rows than one statement does', async () => {
    await using(await openSqlite(), fillStores);
    const database = new DatabaseSync(join(dataDir, 'umpire.sqlite'));
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
      INSERT INTO audit_log (at_ms, actor, action, target, details) SELECT i, 'a', 'b', 'c', '{}' FROM n`);
    database.close();
    const { tables } = await copy(sqlite(), postgres());
    expect(tables.find(({ table }) => table === 'audit_log')?.rows).toBe(2504);
  });

  it('of an empty store is an empty store', async () => {
    await (await openSqlite()).close();
    const { tables, costPicoUsd } = await copy(sqlite(), postgres());
    expect([tables.reduce((sum, { rows }) => sum + rows, 0), costPicoUsd]).toEqual([0, 0n]);
    await using(await openPostgres(), async (stores) => {
      await stores.audit.append({ atMs: NOW_MS, actor: 'server', action: 'first', target: 'x', details: {} });
      expect(await stores.audit.list({ before: undefined, limit: 5 })).toHaveLength(1);
    });
  });

  it('into a store that is not empty is refused, and nothing is written', async () => {
    await using(await openSqlite(), fillStores);
    const record = { atMs: NOW_MS, actor: 'server', action: 'mine', target: 'x', details: {} };
    await using(await openPostgres(), (stores) => stores.audit.append(record));
    await expect(copy(sqlite(), postgres())).rejects.toThrow('not empty: there are rows in its table audit_log');
    expect(await server.query(url, 'select count(*)::int as count from api_keys')).toEqual([{ count: 0 }]);
  });

  it('is refused while a server has the source, or anybody the target', async () => {
    const stores = await openSqlite();
    await fillStores(stores);
    await expect(copy(sqlite(), postgres())).rejects.toThrow('A server uses the data folder');
    await stores.close();
    await using(await openPostgres(), async () => undefined);
    const holder = server.query(url, 'begin; lock table ledger; select pg_sleep(60)').catch(() => undefined);
    const isHeld = "select count(*)::int as count from pg_locks where relation = 'ledger'::regclass";
    await until('the ledger is locked', async () => (await server.query(url, isHeld))[0]?.['count'] !== 0);
    await expect(copy(sqlite(), postgres())).rejects.toThrow('The target is in use');
    await server.query(url, "select pg_terminate_backend(pid) from pg_stat_activity where query like 'begin; lock%'");
    await holder;
    await copy(sqlite(), postgres());
  });

  it('is refused while servers on PostgreSQL live', async () => {
    await using(await openSqlite(), fillStores);
    await copy(sqlite(), postgres());
    await using(await openPostgres(), (stores) => stores.ledger.beat('instance_2', NOW_MS));
    const other = sqlite(join(folder, 'other'));
    await expect(copy(postgres(), other, NOW_MS + 59_000)).rejects.toThrow('1 servers gave a sign of life');
    expect((await checkStore(other)).books).toMatchObject({ keys: 0, ledgerRows: 0 });
    await copy(postgres(), other, NOW_MS + 60_000);
  });

  it('of a store onto itself is refused', async () => {
    await using(await openSqlite(), fillStores);
    await expect(copy(sqlite(), sqlite())).rejects.toThrow('A server uses the data folder');
    await using(await openPostgres(), async () => undefined);
    await expect(copy(postgres(), postgres())).rejects.toThrow('The source is in use');
  });

  it('that fails in the middle leaves the target empty', async () => {
    await using(await openSqlite(), fillStores);
    await using(await openPostgres(), async () => undefined);
    // The last table but two: what came before is undone.
    await server.query(url, 'alter table idempotency add constraint none check (is_done = 99)');
    await expect(copy(sqlite(), postgres())).rejects.toThrow('violates check constraint');
    expect(await server.query(url, 'select count(*)::int as count from ledger')).toEqual([{ count: 0 }]);
  });

  it('that arrives changed does not count', async () => {
    await using(await openSqlite(), fillStores);
    await using(await openPostgres(), async () => undefined);
    await server.query(
      url,
      `create function slow_down() returns trigger language plpgsql as
        $$ begin new.duration_ms = new.duration_ms + 1; return new; end $$`,
    );
    await server.query(url, 'create trigger t before insert on ledger for each row execute function slow_down()');
    await expect(copy(sqlite(), postgres())).rejects.toThrow('The copy of the table ledger is not what was read.');
    expect(await server.query(url, 'select count(*)::int as count from api_keys')).toEqual([{ count: 0 }]);
  });

  it('to a server that is not there says so without the password', async () => {
    await using(await openSqlite(), fillStores);
    const away = { type: 'postgres', url: 'postgres://umpire:s3cret@127.0.0.1:1/x', connectTimeoutMs: 1000 } as const;
    const told = await copy(sqlite(), away).catch((error: Error) => error.message);
    expect(told).toContain('PostgreSQL 127.0.0.1:1/x cannot be used');
    expect(told).not.toContain('s3cret');
  });
});
