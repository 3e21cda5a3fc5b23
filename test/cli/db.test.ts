// What `umpire db …` asks for, prints and exits with. The stores are doubles; test/storage has the real ones.

import { describe, expect, it } from 'vitest';
import { runCommand } from '../../src/cli/run-command.ts';
import type { CopyTarget, StoreTools } from '../../src/cli/store-tools.ts';
import type { CheckedStore } from '../../src/domain/store-report.ts';
import { program } from './program-double.ts';

const SECRET_URL = 'postgres://umpire:s3cret@db:5432/books';
const COPIED = {
  tables: [
    { table: 'api_keys', rows: 2 },
    { table: 'ledger', rows: 1_000_000 },
  ],
  costPicoUsd: 1_500_000_000_000n,
};
const SOUND: CheckedStore = {
  name: 'SQLite /data/umpire.sqlite',
  schemaVersion: 2,
  newestSchemaVersion: 2,
  damage: [],
  books: { faults: [], keys: 2, ledgerRows: 53, openReservations: 1, costPicoUsd: 12n },
};

async function run(args: readonly string[], tools: Partial<StoreTools>) {
  const { whole, said } = program();
  const code = await runCommand(['db', ...args], { ...whole, storeTools: { ...whole.storeTools, ...tools } });
  return { code, ...said };
}

describe('a mistake', () => {
  it.each([
    [['backup'], 'It takes one file.'],
    [['backup', ''], 'It takes one file.'],
    [['backup', 'a', 'b'], 'It takes one file.'],
    [['backup', 'a', '--overwrite'], "Unknown option '--overwrite'"],
    [['restore'], 'It takes one file.'],
    [['restore', 'a', '--force'], "Unknown option '--force'"],
    [['check', 'a'], 'nothing to do with "a"'],
    [['copy'], 'Where to? Give --to, or set UMPIRE_TARGET_DATABASE_URL.'],
    [['copy', 'postgres://db/books'], 'nothing to do with "postgres://db/books"'],
    [['copy', '--to', ''], '--to takes an address or a data folder'],
    [['copy', '--to', 'mysql://db/books'], '--to must be a postgres:// address'],
    [['copy', '--to', SECRET_URL], '--to must not hold a password'],
    [['copy', '--to', 'postgres://db/books?password=s3cret'], '--to must not hold a password'],
  ])('such as %o is answered with 2 and without a secret', async (args, told) => {
    const { code, out, error } = await run(args, {});
    expect([code, out]).toEqual([2, '']);
    expect(error).toContain(told);
    expect(error).not.toContain('s3cret');
  });

  it('is to say twice where to, and an address that is none', async () => {
    const twice = await run(['copy', '--to', 'folder'], { targetDatabaseUrl: SECRET_URL });
    expect(twice).toMatchObject({ code: 2, error: expect.stringContaining('not both') });
    const wrong = await run(['copy'], { targetDatabaseUrl: 's3cret' });
    expect(wrong.error).toContain('UMPIRE_TARGET_DATABASE_URL must be a postgres:// address');
    expect(twice.error + wrong.error).not.toContain('s3cret');
  });
});

describe('umpire db backup', () => {
  it('tells file, size and schema', async () => {
    const seen: unknown[] = [];
    const backup: StoreTools['backup'] = async (flags, file, options) => {
      seen.push(flags, file, options);
      return { file: '/backups/one', bytes: 8192, schemaVersion: 2 };
    };
    const plain = await run(['backup', 'one', '--port', '9'], { backup });
    expect(plain).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Backed up to \/backups\/one \(8192 bytes, schema 2\)/),
    });
    const json = await run(['backup', 'one', '--force', '--json'], { backup });
    expect(JSON.parse(json.out)).toEqual({ file: '/backups/one', bytes: 8192, schema: 2 });
    expect(seen).toEqual([
      { port: '9', models: undefined },
      'one',
      { overwrite: false },
      { port: undefined, models: undefined },
      'one',
      { overwrite: true },
    ]);
  });
});

describe('umpire db restore', () => {
  it('tells where the store that was there is kept, if there was one', async () => {
    const restored = { file: '/data/umpire.sqlite', schemaVersion: 2, keptAside: '/data/umpire.sqlite.before' };
    const kept = await run(['restore', 'one'], { restore: async () => restored });
    expect(kept).toMatchObject({
      code: 0,
      out: 'Restored /data/umpire.sqlite (schema 2).\nThe store that was there is now /data/umpire.sqlite.before.\n',
    });
    const first = await run(['restore', 'one'], { restore: async () => ({ ...restored, keptAside: null }) });
    expect(first.out).toBe('Restored /data/umpire.sqlite (schema 2).\n');
    const json = await run(['restore', 'one', '--json'], { restore: async () => restored });
    expect(JSON.parse(json.out)).toEqual({ file: restored.file, schema: 2, kept_aside: restored.keptAside });
  });
});

describe('umpire db check', () => {
  it('exits with 0 where there is no fault', async () => {
    const { code, out } = await run(['check'], { check: async () => SOUND });
    expect(code).toBe(0);
    expect(out).toMatch(/^store +SQLite \/data\/umpire\.sqlite\nschema +2 of 2\n/);
    expect(out).toMatch(/^cost in all +\$0\.000000000012\n\nNo fault found\.\n$/m);
    const json = await run(['check', '--json'], { check: async () => SOUND });
    expect(JSON.parse(json.out)).toEqual({
      store: SOUND.name,
      schema: 2,
      newest_schema: 2,
      ok: true,
      faults: [],
      keys: 2,
      ledger_rows: 53,
      open_requests: 1,
      cost_usd: '0.000000000012',
    });
  });

  it.each([
    [
      'damage',
      { ...SOUND, schemaVersion: undefined, damage: ['row 3 missing'], books: undefined },
      'The file is damaged:\n  - row 3 missing\n',
    ],
    [
      'books that do not agree',
      {
        ...SOUND,
        books: { faults: ['1 keys without a secret'], keys: 1, ledgerRows: 0, openReservations: 0, costPicoUsd: 0n },
      },
      'The books do not agree:\n  - 1 keys without a secret\n',
    ],
  ] satisfies [string, CheckedStore, string][])('exits with 1 for %s', async (_, check, told) => {
    const { code, out } = await run(['check'], { check: async () => check });
    expect(code).toBe(1);
    expect(out).toContain(told);
    const json = await run(['check', '--json'], { check: async () => check });
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, faults: [expect.any(String)] });
  });

  it('says that an older schema was not judged', async () => {
    const { code, out } = await run(['check'], {
      check: async () => ({ ...SOUND, schemaVersion: 1, books: undefined }),
    });
    expect(code).toBe(0);
    expect(out).toContain('1 of 2');
    expect(out).toContain('brings up to date');
  });
});

describe('umpire db copy', () => {
  it.each([
    [
      ['copy', '--to', 'postgres://umpire@db/books'],
      undefined,
      { type: 'postgres', url: 'postgres://umpire@db/books' },
    ],
    [['copy', '--to', './other'], undefined, { type: 'sqlite', dataDir: './other' }],
    [['copy'], SECRET_URL, { type: 'postgres', url: SECRET_URL }],
  ] satisfies [string[], string | undefined, CopyTarget][])(
    '%o with the variable %s goes to %o',
    async (args, targetDatabaseUrl, wanted) => {
      const seen: CopyTarget[] = [];
      const copy: StoreTools['copy'] = async (_, target) => {
        seen.push(target);
        return COPIED;
      };
      const { code, out } = await run(args, { targetDatabaseUrl, copy });
      expect(code).toBe(0);
      expect(seen).toEqual([wanted]);
      expect(out).toMatch(
        /^TABLE +ROWS\napi_keys +2\nledger +1000000\n\nCopied, read back and compared\. Cost in all: \$1\.5 on/,
      );
      expect(out).not.toContain('s3cret');
    },
  );

  it('tells tables and cost as JSON', async () => {
    const { out } = await run(['copy', '--to', 'x', '--json'], { copy: async () => COPIED });
    expect(JSON.parse(out)).toEqual({ tables: { api_keys: 2, ledger: 1_000_000 }, cost_usd: '1.5' });
  });
});
