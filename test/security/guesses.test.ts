// Strangers who guess well-formed keys as fast as they can, while others come with keys of their own for the first time.

import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSecret } from '../../src/services/keys/key-secret.ts';
import { ADMIN_KEY, Fleet } from '../money/fleet.ts';
import { type IssuedKey, issueKey } from '../money/issue-key.ts';
import { SqliteMoneyStore } from '../money/money-store.ts';
import { until } from '../waiting/until.ts';

const SOCKETS = 32;
const CLIENTS = 24;
/** More than a quick machine may ask the store for while it makes them. */
const GUESSES_BEFORE = 2400;
const WINDOW_MS = 1000;
const NETWORKS = 200;

let store: SqliteMoneyStore;
let fleet: Fleet;
let address: string;
let agent: Agent;
const keys: IssuedKey[] = [];

beforeAll(async () => {
  store = new SqliteMoneyStore();
  // The tests stand before the server as a proxy does.
  fleet = await Fleet.over(store, { settings: { UMPIRE_HTTP_TRUSTED_PROXIES: '127.0.0.1' } });
  const before = await fleet.launch();
  const issuer = await before.ready();
  for (let key = 0; key < 2 * CLIENTS; key++) keys.push(await issueKey(issuer));
  await before.stop();
  // A new process has seen none of them.
  address = await (await fleet.launch()).ready();
  agent = new Agent({ connections: SOCKETS });
});

afterAll(async () => {
  await agent.close();
  await fleet.dispose();
  await store.dispose();
});

async function statusOf(secret: string, from: string): Promise<number> {
  const headers = { authorization: `Bearer ${secret}`, 'x-forwarded-for': from };
  const { statusCode, body } = await request(`${address}/ai/v1/models`, { dispatcher: agent, headers });
  await body.dump();
  return statusCode;
}

describe('guesses', () => {
  it.each([
    ['one address', 50, () => '203.0.113.7'],
    ['many addresses', 500, (guess: number) => `203.0.113.${guess % NETWORKS}`],
  ] as const)('from %s are bounded, and never keep out a key that exists', async (_from, mostInWindow, addressOf) => {
    const fresh = keys.splice(0, CLIENTS);
    const statuses: Record<number, number> = {};
    let guesses = 0;
    let isOver = false;
    const guess = async (): Promise<void> => {
      while (!isOver) {
        const status = await statusOf(createSecret(), addressOf(guesses++));
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    };
    const startedMs = performance.now();
    const guessers = Array.from({ length: SOCKETS - 2 }, guess);
    const told: number[] = [];
    for (const { secret } of fresh) {
      const before = guesses;
      // The address of the strangers among others: they may come from the same house.
      told.push(await statusOf(secret, told.length % 2 === 0 ? '203.0.113.7' : '198.51.100.1'));
      await until('strangers have guessed', async () => {
        await statusOf(ADMIN_KEY, '198.51.100.1');
        return guesses >= before + GUESSES_BEFORE / CLIENTS;
      });
    }
    isOver = true;
    await Promise.all(guessers);
    expect(told).toEqual(fresh.map(() => 200));
    const { 401: wrong = 0, 429: limited = 0, 503: overloaded = 0 } = statuses;
    expect(wrong + limited + overloaded).toBe(guesses);
    // However fast the machine is: the first window has begun before, the last one ends later.
    const windows = Math.ceil((performance.now() - startedMs) / WINDOW_MS) + 1;
    expect(wrong).toBeLessThanOrEqual(mostInWindow * windows);
  });
});
