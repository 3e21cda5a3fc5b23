// The suite of stores over SQLite, and what only a file can get wrong: modes, foreign content, a newer schema.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStores } from '../../src/storage/sqlite/open-sqlite-stores.ts';
import { SqliteConnection } from '../../src/storage/sqlite/sqlite-connection.ts';
import { StorageError } from '../../src/storage/storage-error.ts';
import { describeStores } from './stores.suite.ts';

describeStores('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-stores-'));
  const stores = await openSqliteStores({ dataDir: folder, exclusive: false });
  return {
    stores,
    openAgain: () => openSqliteStores({ dataDir: folder, exclusive: false }),
    remove: async () => {
      await stores.close().catch(() => undefined);
      rmSync(folder, { recursive: true });
    },
  };
});

describe('the SQLite file', () => {
  let parent: string;
  let dataDir: string;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'umpire-sqlite-'));
    dataDir = join(parent, 'a', 'data');
  });

  afterEach(() => rmSync(parent, { recursive: true }));

  const file = (): string => join(dataDir, 'umpire.sqlite');
  const modeOf = (path: string): number => statSync(path).mode & 0o777;

  it('is for its owner alone, with its journals and its folder', async () => {
    const stores = await openSqliteStores({ dataDir, exclusive: false });
    expect([dataDir, file(), `${file()}-wal`, `${file()}-shm`].map(modeOf)).toEqual([0o700, 0o600, 0o600, 0o600]);
    await stores.close();
    expect(existsSync(`${file()}-wal`)).toBe(false);
  });

  it('leaves the mode of a folder that was there', async () => {
    mkdirSync(dataDir, { recursive: true });
    chmodSync(dataDir, 0o750);
    await (await openSqliteStores({ dataDir, exclusive: false })).close();
    expect(modeOf(dataDir)).toBe(0o750);
  });

  it('is refused when it is no database', async () => {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(file(), 'this is a text and no database, long enough to have a header of its own '.repeat(20));
    await expect(openSqliteStores({ dataDir, exclusive: false })).rejects.toThrow(
      new StorageError(`The store ${file()} cannot be opened: file is not a database.`),
    );
  });

  it('is refused when a newer version wrote it', async () => {
    await (await openSqliteStores({ dataDir, exclusive: false })).close();
    const database = new DatabaseSync(file());
    database.exec('INSERT INTO schema_migrations VALUES (99, 0)');
    database.close();
    await expect(openSqliteStores({ dataDir, exclusive: false })).rejects.toThrow(/schema 99 .* newer umpire/);
  });

  it('is refused when its folder is a file', async () => {
    writeFileSync(join(parent, 'a'), '');
    await expect(openSqliteStores({ dataDir, exclusive: false })).rejects.toThrow(
      `The data folder ${dataDir} cannot be written`,
    );
  });

  it('is migrated once by processes that start at the same time', async () => {
    const opened = await Promise.all(Array.from({ length: 4 }, () => openSqliteStores({ dataDir, exclusive: false })));
    await Promise.all(opened.map((stores) => stores.close()));
    const database = new DatabaseSync(file());
    expect(database.prepare('SELECT version FROM schema_migrations').all()).toEqual([{ version: 1 }, { version: 2 }]);
    database.close();
  });

  it('keeps integers that a number cannot hold', () => {
    mkdirSync(dataDir, { recursive: true });
    const connection = new SqliteConnection(file(), 1000);
    const { rows } = connection.execute('SELECT ? AS big, ? AS small', [2n ** 60n, 7]);
    expect(rows.map((row) => ({ ...row }))).toEqual([{ big: 2n ** 60n, small: 7 }]);
    expect(() => connection.execute('SELECT nonsense', [])).toThrow('no such column');
    connection.close();
  });
});
