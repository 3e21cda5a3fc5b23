// `umpire db check`: finds nothing in a store that the server wrote, and each kind of disagreement where there is one.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStores } from '../../src/storage/sqlite/open-sqlite-stores.ts';
import { checkStore } from '../../src/storage/store-tools.ts';
import { dumpFolder, fillStores } from './filled-store.ts';

let dataDir: string;
let file: string;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'umpire-check-'));
  file = join(dataDir, 'umpire.sqlite');
  const stores = await openSqliteStores({ dataDir, exclusive: true });
  await fillStores(stores);
  await stores.close();
});

afterEach(() => rmSync(dataDir, { recursive: true }));

const check = () => checkStore({ type: 'sqlite', dataDir });

function change(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

describe('a store that the server wrote', () => {
  it('has no fault, with its figures, also while the server runs; and is not changed', async () => {
    const before = dumpFolder(dataDir);
    const sound = await check();
    expect(sound).toMatchObject({ name: `SQLite ${file}`, schemaVersion: 5, newestSchemaVersion: 5, damage: [] });
    expect(sound.books).toMatchObject({ faults: [], keys: 2, ledgerRows: 53, openReservations: 1 });
    const stores = await openSqliteStores({ dataDir, exclusive: true });
    expect(await check()).toEqual(sound);
    await stores.close();
    expect(dumpFolder(dataDir)).toEqual(before);
  });
});

describe('books that do not agree', () => {
  it.each([
    [
      "UPDATE accounts SET spent_pico_usd = '5' WHERE key_id = 'key_1'",
      /the account of key_1 says \$0\.000000000005 spent, its/,
    ],
    [
      "UPDATE accounts SET reserved_pico_usd = '0'",
      /the account of key_1 says \$0 reserved, its rows say \$0\.000000000123$/,
    ],
    ['UPDATE accounts SET in_flight = 7', /the account of key_1 says 7 requests in flight, there are 1$/],
    ["DELETE FROM ledger WHERE id = 'req_7'", /the account of key_1 says/],
    [
      "UPDATE ledger SET cost_pico_usd = cost_pico_usd + 1 WHERE id = 'req_7'",
      /1 rows of the ledger whose cost is not/,
    ],
    ["DELETE FROM accounts WHERE key_id = 'key_2'", /1 rows of the ledger without an account/],
    ["DELETE FROM accounts WHERE key_id = 'key_1'", /1 reservations without an account/],
    ["UPDATE reservations SET id = 'req_7'", /1 reservations of requests that have a row in the ledger/],
    ["DELETE FROM api_keys WHERE id = 'key_1'", /2 secrets without a key/],
    ["DELETE FROM api_key_secrets WHERE key_id = 'key_2'", /1 keys without a secret/],
    ['UPDATE usage_rollups SET hour_start_ms = hour_start_ms + 1', /roll-ups of no request, or not of a whole hour/],
  ])('after %s', async (sql, told) => {
    change(sql);
    expect((await check()).books?.faults.join('\n')).toMatch(new RegExp(told, 'm'));
  });
});

describe('a store that cannot be judged', () => {
  it('for damage tells the damage', async () => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0x5a, 4096 * 4, 4096 * 8));
    const { damage, books } = await check();
    expect(damage.length).toBeGreaterThan(0);
    expect(books).toBeUndefined();
  });

  it('for an older schema says so', async () => {
    change('DELETE FROM schema_migrations WHERE version > 1');
    expect(await check()).toMatchObject({ schemaVersion: 1, newestSchemaVersion: 5, damage: [], books: undefined });
  });

  it('for a newer schema is refused', async () => {
    change('INSERT INTO schema_migrations VALUES (99, 0)');
    await expect(check()).rejects.toThrow('has schema 99 and this version of umpire knows 5');
  });

  it('because there is none is refused, and none is made', async () => {
    rmSync(file);
    await expect(check()).rejects.toThrow('There is no store');
    await expect(check()).rejects.toThrow(`${file} does not exist`);
  });
});
