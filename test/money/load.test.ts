// What remains of requests that a busy server refuses, and of those that are under way when it is told to stop: nothing
// open, nothing paid in vain.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findPicoUsd } from '../../src/domain/money.ts';
import { compareBooks } from './books.ts';
import { ClientCrowd } from './client-crowd.ts';
import { ADMIN_KEY, Fleet, type FleetOptions } from './fleet.ts';
import { issueKey } from './issue-key.ts';
import { SqliteMoneyStore } from './money-store.ts';
import { untilSettled } from './until-settled.ts';

// Whole servers do real work here, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 600_000 });

const BUDGET_PICO_USD = 10n ** 14n;

let store: SqliteMoneyStore;
let fleet: Fleet;

beforeEach(() => {
  store = new SqliteMoneyStore();
});

afterEach(async () => {
  await fleet.dispose();
  await store.dispose();
});

async function startCrowd(options: FleetOptions, clients: number) {
  fleet = await Fleet.over(store, options);
  const server = await fleet.launch();
  const address = await server.ready();
  const limits = { concurrentRequests: clients, requestsPerMinute: 900_000, tokensPerMinute: 900_000_000 };
  const keys = [await issueKey(address, { budgetPicoUsd: BUDGET_PICO_USD, ...limits }), await issueKey(address)];
  return { server, address, crowd: new ClientCrowd({ clients, keys, seed: 11, leavingShare: 0.1 }) };
}

describe('a server with a queue of one', () => {
  it('gives back what those had reserved whom it refuses; the reports say what clients were told', async () => {
    // Every request is to run: answers that are shared need no place in the queue.
    const settings = {
      UMPIRE_ENGINE_QUEUE_MAX_JOBS: '1',
      UMPIRE_ANSWERS_MERGE: 'false',
      UMPIRE_ANSWERS_CACHE_BYTES: '0',
    };
    const { address, crowd } = await startCrowd({ settings }, 24);
    const work = crowd.run(address);
    await crowd.until((answers) => answers.length >= 300 && answers.filter(({ status }) => status === 503).length > 10);
    crowd.stop();
    await work;
    // Whoever left did not wait for the end of its work.
    await untilSettled(store);
    const refused = crowd.answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(10);
    expect(refused.every(({ text }) => text.includes('"overloaded"'))).toBe(true);
    const books = await compareBooks(store, crowd);
    expect(books.faults).toEqual([]);
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const report = (await (await fetch(`${address}/admin/v1/usage`, { headers })).json()) as {
      totals: { cost_usd: string; requests: number };
    };
    expect(report.totals.requests).toBe(books.rows);
    expect(findPicoUsd(report.totals.cost_usd)).toBe(books.ledgerPicoUsd);
  });
});

describe('a server that is told to stop', () => {
  it('leaves nothing open: what it answered is paid, what it did not is free', async () => {
    const { server, address, crowd } = await startCrowd({}, 16);
    const work = crowd.run(address);
    await crowd.until((answers) => answers.length >= 100);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    await work;
    expect(await store.queryRemains('SELECT id FROM reservations')).toEqual([]);
    expect(await store.queryRemains('SELECT id FROM instances')).toEqual([]);
    const { faults, crashedRows } = await compareBooks(store, crowd);
    expect([faults, crashedRows]).toEqual([[], 0]);
  });
});
