// Backup and restore of the SQLite store: whole, of one moment, and never in the way of a server or of each other.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newestSchemaVersion } from '../../../src/storage/migrations.ts';
import { openSqliteStores } from '../../../src/storage/sqlite/open-sqlite-stores.ts';
import { backupStore, checkStore, restoreStore } from '../../../src/storage/store-tools.ts';
import { dumpFile, dumpFolder, fillStores, settleAll } from '../filled-store.ts';
import { NOW_MS } from '../ledger-fixture.ts';

let folder: string;
let dataDir: string;
let backup: string;
const at = (where: string) => ({ type: 'sqlite', dataDir: where }) as const;
const storeFile = (): string => join(dataDir, 'umpire.sqlite');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-backup-'));
  dataDir = join(folder, 'data');
  backup = join(folder, 'backup');
});

afterEach(() => rmSync(folder, { recursive: true }));

async function fill(): Promise<void> {
  const stores = await openSqliteStores({ dataDir, exclusive: true });
  await fillStores(stores);
  await stores.close();
}

/** A restored copy of `backup` in another data folder. */
async function restoreElsewhere(name: string): Promise<string> {
  const other = join(folder, name);
  mkdirSync(other);
  await restoreStore(at(other), backup, NOW_MS);
  return other;
}

describe('a backup', () => {
  it('restored is the same store to the last value, with every table filled', async () => {
    await fill();
    const before = dumpFolder(dataDir);
    expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([]);
    const copy = await backupStore(at(dataDir), backup, { overwrite: false });
    expect(copy).toEqual({ file: backup, bytes: statSync(backup).size, schemaVersion: newestSchemaVersion });
    expect(dumpFile(backup)).toEqual(before);
    expect(dumpFolder(await restoreElsewhere('other'))).toEqual(before);
  });

  it('is of one moment while a server writes, and takes nothing from it', async () => {
    const stores = await openSqliteStores({ dataDir, exclusive: true });
    await fillStores(stores);
    let written = 0;
    let isDone = false;
    const writing = (async () => {
      for (; !isDone; written += 20)
        await settleAll(
          stores,
          Array.from({ length: 20 }, (_, index) => `load_${written + index}`),
        );
    })();
    const counts: number[] = [];
    while (counts.length < 5) {
      await backupStore(at(dataDir), backup, { overwrite: true });
      const { damage, books } = await checkStore(at(await restoreElsewhere(`copy_${counts.length}`)));
      expect([damage, books?.faults]).toEqual([[], []]);
      counts.push(books?.ledgerRows ?? 0);
    }
    isDone = true;
    await writing;
    await stores.close();
    expect(counts).toEqual(counts.toSorted((left, right) => left - right));
    expect(new Set(counts).size).toBeGreaterThan(1);
    const after = await checkStore(at(dataDir));
    expect(after.books).toMatchObject({ faults: [], ledgerRows: 53 + written });
    const [first, last] = [dumpFolder(join(folder, 'copy_0')), dumpFolder(dataDir)];
    expect(last['ledger']).toEqual(expect.arrayContaining(first['ledger'] ?? []));
  });

  it('is for its owner alone, one file, and leaves nothing else behind', async () => {
    await fill();
    await backupStore(at(dataDir), backup, { overwrite: false });
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).sort()).toEqual(['backup', 'data']);
    expect(readdirSync(dataDir).sort()).toEqual(['umpire.lock', 'umpire.sqlite']);
  });

  it('overwrites only where it was told to', async () => {
    await fill();
    writeFileSync(backup, 'precious');
    await expect(backupStore(at(dataDir), backup, { overwrite: false })).rejects.toThrow('exists already');
    expect(readFileSync(backup, 'utf8')).toBe('precious');
    await backupStore(at(dataDir), backup, { overwrite: true });
    expect(dumpFile(backup)).toEqual(dumpFolder(dataDir));
    await expect(backupStore(at(dataDir), storeFile(), { overwrite: true })).rejects.toThrow(
      'place of the store itself',
    );
  });

  it('of nothing, or to nowhere, is refused and makes no file', async () => {
    await expect(backupStore(at(dataDir), backup, { overwrite: false })).rejects.toThrow('does not exist');
    expect(existsSync(dataDir)).toBe(false);
    await fill();
    const nowhere = join(folder, 'no', 'such', 'folder');
    await expect(backupStore(at(dataDir), nowhere, { overwrite: false })).rejects.toThrow('cannot be written: ENOENT');
    expect(readdirSync(folder)).toEqual(['data']);
  });

  it('of a damaged store is refused, and the older backup stays', async () => {
    await fill();
    writeFileSync(backup, 'an older one');
    const bytes = readFileSync(storeFile());
    writeFileSync(storeFile(), bytes.fill(0xff, 4096 * 3, 4096 * 6));
    await expect(backupStore(at(dataDir), backup, { overwrite: true })).rejects.toThrow(/malformed|damaged/);
    expect(readFileSync(backup, 'utf8')).toBe('an older one');
    expect(readdirSync(folder).sort()).toEqual(['backup', 'data']);
  });
});

describe('a restore', () => {
  it('keeps what was there, and the server goes on with what was restored', async () => {
    await fill();
    await backupStore(at(dataDir), backup, { overwrite: false });
    const then = dumpFolder(dataDir);
    const stores = await openSqliteStores({ dataDir, exclusive: true });
    await settleAll(stores, ['after the backup']);
    await stores.close();
    const later = dumpFolder(dataDir);

    const { keptAside } = await restoreStore(at(dataDir), backup, NOW_MS);
    expect(keptAside).toBe(`${storeFile()}.before-20261121T183000000Z`);
    expect(dumpFolder(dataDir)).toEqual(then);
    expect(dumpFile(keptAside ?? '')).toEqual(later);
    expect(statSync(storeFile()).mode & 0o777).toBe(0o600);

    const again = await openSqliteStores({ dataDir, exclusive: true });
    await settleAll(again, ['after the restore']);
    await again.close();
    expect((await checkStore(at(dataDir))).books).toMatchObject({ faults: [], ledgerRows: 54 });
  });

  it('is refused while a server or a command has the store open, and changes nothing', async () => {
    await fill();
    await backupStore(at(dataDir), backup, { overwrite: false });
    const before = readFileSync(storeFile());
    for (const [exclusive, told] of [
      [true, 'A server uses the data folder'],
      [false, 'Another process has the store open'],
    ] as const) {
      const stores = await openSqliteStores({ dataDir, exclusive });
      await expect(restoreStore(at(dataDir), backup, NOW_MS)).rejects.toThrow(told);
      expect(await stores.keys.count()).toBe(2);
      await stores.close();
    }
    expect(readFileSync(storeFile())).toEqual(before);
    expect(readdirSync(dataDir).sort()).toEqual(['umpire.lock', 'umpire.sqlite']);
  });

  it('refuses what is damaged, no backup, in use, or of a newer version, and changes nothing', async () => {
    await fill();
    await backupStore(at(dataDir), backup, { overwrite: false });
    const before = dumpFolder(dataDir);
    const sound = readFileSync(backup);
    const refusals: [file: string, told: string][] = [
      ['missing', 'There is no backup'],
      ['text', 'is damaged or no database'],
      ['empty', 'none of umpire'],
      ['torn', 'is damaged'],
      ['newer', `${join(folder, 'newer')} has schema 99 and this version of umpire knows 5: a newer umpire wrote it.`],
      ['in-use', 'has a journal beside it'],
    ];
    writeFileSync(join(folder, 'text'), 'no database '.repeat(500));
    new DatabaseSync(join(folder, 'empty')).exec('CREATE TABLE other (x)');
    writeFileSync(join(folder, 'torn'), Buffer.from(sound).fill(0x5a, 4096 * 2, 4096 * 5));
    copyFileSync(backup, join(folder, 'newer'));
    const newer = new DatabaseSync(join(folder, 'newer'));
    newer.exec('INSERT INTO schema_migrations VALUES (99, 0)');
    newer.close();
    copyFileSync(backup, join(folder, 'in-use'));
    writeFileSync(join(folder, 'in-use-wal'), 'commits');
    for (const [file, told] of refusals)
      await expect(restoreStore(at(dataDir), join(folder, file), NOW_MS), file).rejects.toThrow(told);
    await expect(restoreStore(at(dataDir), storeFile(), NOW_MS)).rejects.toThrow('from itself');
    expect(readdirSync(dataDir).filter((name) => name.includes('partial') || name.includes('before'))).toEqual([]);
    expect(dumpFolder(dataDir)).toEqual(before);
  });

  it('takes the place of a store that is beyond reading, journals and all', async () => {
    await fill();
    await backupStore(at(dataDir), backup, { overwrite: false });
    const then = dumpFolder(dataDir);
    writeFileSync(storeFile(), 'scrambled '.repeat(1000));
    writeFileSync(`${storeFile()}-wal`, 'also scrambled');
    const { keptAside } = await restoreStore(at(dataDir), backup, NOW_MS);
    expect(dumpFolder(dataDir)).toEqual(then);
    expect(readFileSync(keptAside ?? '', 'utf8')).toContain('scrambled');
    expect(readFileSync(`${keptAside}-wal`, 'utf8')).toBe('also scrambled');
  });

  it('into an empty folder keeps nothing aside', async () => {
    await fill();
    await backupStore(at(dataDir), backup, { overwrite: false });
    chmodSync(backup, 0o644);
    const other = join(folder, 'new', 'data');
    expect((await restoreStore(at(other), backup, NOW_MS)).keptAside).toBeNull();
    expect(statSync(join(other, 'umpire.sqlite')).mode & 0o777).toBe(0o600);
  });
});

describe('a store on PostgreSQL', () => {
  const postgres = {
    type: 'postgres',
    url: 'postgres://umpire:s3cret@db.example.com:5433/books?sslmode=verify-full',
    connectTimeoutMs: 1,
  } as const;

  it('is backed up and restored by its own programs, named without the password', async () => {
    await expect(backupStore(postgres, 'my file', { overwrite: false })).rejects.toThrow(
      "pg_dump --format=custom --file='my file' 'postgres://umpire@db.example.com:5433/books?sslmode=verify-full'",
    );
    await expect(restoreStore(postgres, '/backups/1', NOW_MS)).rejects.toThrow(
      "pg_restore --clean --if-exists --no-owner --single-transaction --dbname='postgres://umpire@db.example.com:5433/books?sslmode=verify-full' /backups/1",
    );
    for (const told of [backupStore(postgres, 'f', { overwrite: true }), restoreStore(postgres, 'f', 0)])
      await expect(told).rejects.not.toThrow('s3cret');
  });
});
