// What only a file can get wrong: modes, foreign content, a newer schema, a second server, a full disk.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_LIMITS } from '../../../src/domain/api-key.ts';
import { openSqliteStores } from '../../../src/storage/sqlite/open-sqlite-stores.ts';
import { SqliteConnection } from '../../../src/storage/sqlite/sqlite-connection.ts';
import { isUnavailable } from '../../../src/storage/sqlite/sqlite-error.ts';
import { StorageError } from '../../../src/storage/storage-error.ts';
import { NOW_MS, reservation, rowsOf } from '../ledger-fixture.ts';

/** Part of every Linux. */
const LIMITER = 'prlimit';

let parent: string;
let dataDir: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'umpire-sqlite-'));
  dataDir = join(parent, 'a', 'data');
});

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  rmSync(parent, { recursive: true });
});

const file = (): string => join(dataDir, 'umpire.sqlite');
const open = (exclusive = false) => openSqliteStores({ dataDir, exclusive });

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** A process that works on the folder as a server does. */
function startChild(command: string, args: readonly string[]) {
  const script = fileURLToPath(new URL('./sqlite-child.ts', import.meta.url));
  const child = spawn(command, [...args, script, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    line: async (): Promise<string> => String((await lines.next()).value),
    say: (line: string) => child.stdin.write(`${line}\n`),
  };
}

describe('the SQLite file', () => {
  const modeOf = (path: string): number => statSync(path).mode & 0o777;

  it('is for its owner alone, with its journals and its folder', async () => {
    const stores = await open();
    expect([dataDir, file(), `${file()}-wal`, `${file()}-shm`].map(modeOf)).toEqual([0o700, 0o600, 0o600, 0o600]);
    await stores.close();
    expect(existsSync(`${file()}-wal`)).toBe(false);
  });

  it('leaves the mode of a folder that was there', async () => {
    mkdirSync(dataDir, { recursive: true });
    chmodSync(dataDir, 0o750);
    await (await open()).close();
    expect(modeOf(dataDir)).toBe(0o750);
  });

  it('is refused when it is no database', async () => {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(file(), 'this is a text and no database, long enough to have a header of its own '.repeat(20));
    await expect(open()).rejects.toThrow(
      new StorageError(`The store ${file()} cannot be opened: file is not a database.`),
    );
  });

  it('is refused when a newer version wrote it', async () => {
    await (await open()).close();
    const database = new DatabaseSync(file());
    database.exec('INSERT INTO schema_migrations VALUES (99, 0)');
    database.close();
    await expect(open()).rejects.toThrow(/schema 99 .* newer umpire/);
  });

  it('is refused when its folder is a file', async () => {
    writeFileSync(join(parent, 'a'), '');
    await expect(open()).rejects.toThrow(`The data folder ${dataDir} cannot be written`);
  });

  it('is migrated once by processes that start at the same time', async () => {
    const opened = await Promise.all([open(), open(), open(), open()]);
    await Promise.all(opened.map((stores) => stores.close()));
    const database = new DatabaseSync(file());
    expect(database.prepare('SELECT version FROM schema_migrations').all()).toEqual([
      { version: 1 },
      { version: 2 },
      { version: 3 },
      { version: 4 },
      { version: 5 },
    ]);
    database.close();
  });

  it('of the first schema is brought up to date, and its keys work on', async () => {
    mkdirSync(dataDir, { recursive: true });
    const database = new DatabaseSync(file());
    database.exec(`CREATE TABLE schema_migrations (version integer primary key, applied_at_ms bigint not null);
      INSERT INTO schema_migrations VALUES (1, 0);
      CREATE TABLE api_keys (id text primary key, name text not null, visible_prefix text not null,
        secret_hash text not null unique, models text, scopes text not null, created_at_ms bigint not null,
        expires_at_ms bigint, revoked_at_ms bigint);
      INSERT INTO api_keys VALUES ('key_1', 'old', 'ump_1234', 'abcd', '["kev"]', '["inference"]', 5, 70, 60);
      INSERT INTO api_keys VALUES ('key_2', 'new', 'ump_5678', 'ef01', NULL, '["admin"]', 6, NULL, NULL);`);
    database.close();
    const stores = await open();
    const secret = { hash: 'abcd', visiblePrefix: 'ump_1234', createdAtMs: 5, expiresAtMs: null };
    const { key, ...found } = (await stores.keys.findByHash('abcd')) ?? {};
    expect(found).toEqual({ secret });
    expect(key).toEqual({
      ...{ id: 'key_1', name: 'old', visiblePrefix: 'ump_1234', models: ['kev'], scopes: ['inference'] },
      ...{ budget: null, limits: NO_LIMITS, createdAtMs: 5, createdBy: 'server', expiresAtMs: 70 },
      ...{ disabledAtMs: null, revokedAtMs: 60, lastUsedAtMs: null },
    });
    expect((await stores.keys.list()).map(({ id }) => id)).toEqual(['key_1', 'key_2']);
    await stores.close();
  });

  it('keeps integers that a number cannot hold', () => {
    mkdirSync(dataDir, { recursive: true });
    const connection = new SqliteConnection(file(), { busyTimeoutMs: 1000 });
    const { rows } = connection.execute('SELECT ? AS big, ? AS small', [2n ** 60n, 7]);
    expect(rows.map((row) => ({ ...row }))).toEqual([{ big: 2n ** 60n, small: 7 }]);
    expect(() => connection.execute('SELECT nonsense', [])).toThrow('no such column');
    connection.close();
  });
});

describe('the lock of the folder', () => {
  const inUse = /^Another server uses this data folder/;

  it('keeps a second server out until the first is closed, and lets commands in', async () => {
    const server = await open(true);
    await expect(open(true)).rejects.toThrow(StorageError);
    await expect(open(true)).rejects.toThrow(inUse);
    const command = await open();
    await command.ledger.reserve(reservation('req_1'));
    await command.close();
    expect(await server.ledger.recover(NOW_MS, NOW_MS)).toBe(1);
    await server.close();
    await (await open(true)).close();
    expect(statSync(join(dataDir, 'umpire.lock')).mode & 0o777).toBe(0o600);
  });

  it('is free again when a server was killed, and what it left open is recovered', async () => {
    const { child, line } = startChild(process.execPath, ['--disable-warning=ExperimentalWarning']);
    expect(await line()).toBe('opened');
    await expect(open(true)).rejects.toThrow(inUse);
    await kill(child);
    const server = await open(true);
    expect(await server.ledger.recover(NOW_MS, NOW_MS)).toBe(1);
    expect(await rowsOf(server)).toMatchObject([{ id: 'req_open', end: 'crashed' }]);
    await server.close();
  });
});

describe('a full disk', () => {
  it('is told apart from a wrong statement', () => {
    mkdirSync(dataDir, { recursive: true });
    const connection = new SqliteConnection(file(), { busyTimeoutMs: 1000 });
    connection.execute('CREATE TABLE t (c)', []);
    connection.execute('PRAGMA max_page_count = 2', []);
    const errorOf = (sql: string): unknown => {
      try {
        return connection.execute(sql, ['x'.repeat(100_000)]);
      } catch (error) {
        return error;
      }
    };
    expect(errorOf('INSERT INTO t VALUES (?)')).toMatchObject({ message: 'database or disk is full' });
    expect(isUnavailable(errorOf('INSERT INTO t VALUES (?)'))).toBe(true);
    expect(isUnavailable(errorOf('INSERT INTO nothing VALUES (?)'))).toBe(false);
    connection.close();
  });

  // The system takes no write past a size that it is told; as root it tells the process so while it runs.
  it.runIf(process.platform === 'linux')(
    'refuses writes, keeps what was committed, and is over by itself',
    async () => {
      const { child, line, say } = startChild(LIMITER, [
        '--fsize=1000000:unlimited',
        process.execPath,
        '--disable-warning=ExperimentalWarning',
      ]);
      expect(await line()).toBe('opened');
      say('fill');
      expect(await line()).toBe('StoreUnavailableError');
      // Still.
      say('fill');
      expect(await line()).toBe('StoreUnavailableError');
      say('read');
      const rows = Number(await line());
      expect(rows).toBeGreaterThan(0);
      execFileSync(LIMITER, [`--pid=${child.pid}`, '--fsize=unlimited:unlimited']);
      say('write');
      expect(await line()).toBe('written');
      say('read');
      expect(Number(await line())).toBe(rows + 1);
      await kill(child);
      const stores = await open();
      expect(await rowsOf(stores)).toHaveLength(rows + 1);
      await stores.close();
    },
  );
});
