// What only a thread can get wrong: it dies, it cannot be opened again, it is closed while calls are under way.

import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreUnavailableError } from '../../../src/domain/errors.ts';
import { openSqliteStores } from '../../../src/storage/sqlite/open-sqlite-stores.ts';
import type { Stores } from '../../../src/storage/stores.ts';
import { FREE, NOW_MS, reservation, rowsOf, settlement } from '../ledger-fixture.ts';

/** So many that a request is done before them wherever it does not wait for them. */
const REPORTS = 500;

let dataDir: string;
let workers: Worker[];
let stores: Stores;

const remember = (worker: Worker): void => {
  workers.push(worker);
};

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'umpire-thread-'));
  workers = [];
  process.on('worker', remember);
  stores = await openSqliteStores({ dataDir, exclusive: true });
});

afterEach(async () => {
  process.off('worker', remember);
  await stores.close();
  rmSync(dataDir, { recursive: true });
});

const run = async (id: string): Promise<void> => {
  await stores.ledger.reserve(reservation(id));
  expect(await stores.ledger.settle(settlement(id))).toMatchObject({ type: 'settled' });
};

describe('the thread of the SQLite file', () => {
  it('is started again by the next call when it was lost, with its lock and all that was committed', async () => {
    await run('req_1');
    await workers.at(-1)?.terminate();
    await run('req_2');
    expect(workers).toHaveLength(2);
    expect((await rowsOf(stores)).map(({ id }) => id)).toEqual(['req_2', 'req_1']);
    await expect(openSqliteStores({ dataDir, exclusive: true })).rejects.toThrow('Another server');
  });

  it('fails what was under way when it is lost, and keeps all of it or nothing', async () => {
    await run('req_0');
    const calls = Array.from({ length: 500 }, (_, index) => stores.ledger.reserve(reservation(`req_${index + 1}`)));
    const results = Promise.allSettled(calls);
    await workers.at(-1)?.terminate();
    const failed = (await results).filter((result) => result.status === 'rejected');
    expect(failed.length).toBeGreaterThan(0);
    for (const { reason } of failed) expect(reason).toBeInstanceOf(StoreUnavailableError);
    // What may have been committed all the same is given back with the next request.
    await run('req_next');
    const open = 500 - failed.length;
    const demand = { ...FREE, limits: { ...FREE.limits, concurrentRequests: 1000 } };
    const { standing } = await stores.ledger.standing({ id: 'key_1', ...demand }, NOW_MS);
    expect(standing.concurrent?.remaining).toBe(1000 - open);
    expect(await stores.ledger.recover(NOW_MS, NOW_MS)).toBe(open);
  });

  it('fails calls while it cannot be opened again, and works when it can', async () => {
    await run('req_1');
    await workers.at(-1)?.terminate();
    const file = join(dataDir, 'umpire.sqlite');
    renameSync(file, `${file}.away`);
    writeFileSync(file, 'this is a text and no database, long enough to have a header of its own '.repeat(20));
    await expect(stores.check()).rejects.toThrow(StoreUnavailableError);
    await expect(stores.check()).rejects.toThrow(StoreUnavailableError);
    renameSync(`${file}.away`, file);
    await expect.poll(() => stores.check().then(() => 'open'), { timeout: 10_000 }).toBe('open');
    expect((await rowsOf(stores)).map(({ id }) => id)).toEqual(['req_1']);
  });

  it('does what was called before it is closed, and nothing after', async () => {
    const calls = Array.from({ length: 50 }, (_, index) => stores.ledger.beat(`instance_${index}`, NOW_MS));
    await Promise.all([...calls, stores.close()]);
    await expect(stores.ledger.reserve(reservation('req_1'))).rejects.toThrow(StoreUnavailableError);
    await expect(stores.check()).rejects.toThrow(StoreUnavailableError);
    await stores.close();
  });

  it('answers requests while a report runs in a thread of its own', async () => {
    await run('req_1');
    let answered = 0;
    const report = async (): Promise<void> => {
      expect((await rowsOf(stores)).map(({ id }) => id)).toContain('req_1');
      answered++;
    };
    const reports = Promise.all(Array.from({ length: REPORTS }, report));
    await run('req_2');
    expect(answered).toBeLessThan(REPORTS);
    await reports;
    expect(workers).toHaveLength(2);
    await expect(stores.usage.rollUp(NOW_MS, 1)).resolves.toBe(0);
  });
});
