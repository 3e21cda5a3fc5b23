// Three servers over one PostgreSQL behave as one: limits and budgets hold across them, and a key that one of them
// revokes is soon refused by all.

import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PostgresServer } from '../postgres/postgres-server.ts';
import type { ReceivedRequest } from '../upstream/upstream-double.ts';
import { until } from '../waiting/until.ts';
import { spendBudget } from './budget-run.ts';
import { answerCounted } from './counting-upstream.ts';
import { type Answer, exchange, type Kind } from './exchange.ts';
import { expectExactBudget } from './expect-exact-budget.ts';
import { expectNothingLost } from './expect-nothing-lost.ts';
import { ADMIN_KEY, Fleet } from './fleet.ts';
import { type IssuedKey, issueKey, type KeyTerms } from './issue-key.ts';
import { PostgresMoneyStore } from './money-store.ts';
import { loseReplicas } from './replica-loss.ts';

// Whole servers do real work here, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 600_000 });

const REPLICAS = 3;

let postgres: PostgresServer;
let store: PostgresMoneyStore;
let fleet: Fleet;
let addresses: string[];
let sent = 0;

beforeAll(async () => {
  postgres = await PostgresServer.start();
  store = await PostgresMoneyStore.create(postgres);
  fleet = await Fleet.over(store);
  addresses = await fleet.launchMany(REPLICAS);
});

afterAll(async () => {
  await fleet.dispose();
  await postgres.dispose();
});

/** @param replica any number; they take turns */
async function ask(replica: number, secret: string, kind: Kind = 'decision', idempotencyKey?: string): Promise<Answer> {
  const retry = idempotencyKey === undefined ? {} : { idempotencyKey };
  const order = { requestId: `replica-${sent++}`, kind, words: 2, keyId: '', secret, ...retry };
  const answer = await exchange(addresses[replica % REPLICAS] ?? '', order);
  if (answer === undefined) throw new Error('A connection broke.');
  return answer;
}

function issue(terms: KeyTerms = {}): Promise<IssuedKey> {
  return issueKey(addresses[0] ?? '', terms);
}

describe('limits', () => {
  it('of requests a minute count on all replicas together', async () => {
    const limit = 40;
    const { secret } = await issue({ requestsPerMinute: limit });
    const startedMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 3 * limit }, (_, index) => ask(index, secret)));
    // The minute slides: what was long enough ago makes room again.
    const slack = Math.ceil((limit * (performance.now() - startedMs)) / 60_000);
    const served = answers.filter(({ status }) => status === 200).length;
    expect(served).toBeGreaterThanOrEqual(limit);
    expect(served).toBeLessThanOrEqual(limit + slack);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
    for (const { headers, text } of refused) {
      expect(text).toContain('"rate_limit_exceeded"');
      expect(headers.get('x-ratelimit-limit-requests')).toBe(String(limit));
      expect(headers.get('x-ratelimit-remaining-requests')).toBe('0');
      const retryAfterMs = Number(headers.get('retry-after-ms'));
      expect(retryAfterMs).toBeGreaterThan(0);
      expect(Number(headers.get('retry-after'))).toBe(Math.ceil(retryAfterMs / 1000));
    }
  });

  it('of requests at a time count on all replicas together', async () => {
    const held: (() => unknown)[] = [];
    fleet.upstream.answer = (response: ServerResponse, request: ReceivedRequest) => {
      held.push(() => answerCounted(response, request));
    };
    const before = fleet.upstream.requests.length;
    const { secret } = await issue({ concurrentRequests: 2 });
    const running = [ask(0, secret, 'chat'), ask(1, secret, 'stream')];
    await fleet.upstream.until(() => fleet.upstream.requests.length === before + 2);
    const third = await ask(2, secret);
    expect([third.status, third.headers.get('x-ratelimit-remaining-concurrent')]).toEqual([429, '0']);
    for (const release of held) release();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    fleet.upstream.answer = answerCounted;
    expect((await ask(2, secret)).status).toBe(200);
  });
});

describe('a key revoked on one replica', () => {
  it('is refused on the others too', async () => {
    const { id, secret } = await issue();
    // All of them know the key, and go on being asked.
    for (let replica = 0; replica < REPLICAS; replica++) expect((await ask(replica, secret)).status).toBe(200);
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const reply = await fetch(`${addresses[0]}/admin/v1/keys/${id}/revoke`, { method: 'POST', headers });
    expect(reply.status).toBe(200);
    const revokedMs = performance.now();
    const untilRefused = async (replica: number): Promise<number> => {
      await until('the key is refused', async () => (await ask(replica, secret)).status === 401);
      return performance.now() - revokedMs;
    };
    const tookMs = await Promise.all([untilRefused(0), untilRefused(1), untilRefused(2)]);
    process.stdout.write(`Revoked: refused after ${tookMs.map((ms) => `${Math.round(ms)} ms`).join(', ')}\n`);
  });
});

describe('a retry', () => {
  it('runs and is billed once, however many replicas are asked at the same time', async () => {
    const { id, secret } = await issue({ budgetPicoUsd: 10n ** 12n });
    const retries = Array.from({ length: 12 }, (_, index) => ask(index, secret, 'chat', 'the-one-order'));
    const answers = await Promise.all(retries);
    expect(answers.map(({ status }) => status)).toEqual(Array(retries.length).fill(200));
    expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    expect(new Set(answers.map(({ text, costPicoUsd }) => `${text} ${costPicoUsd}`)).size).toBe(1);
    const rows = await store.query(`SELECT cost_pico_usd FROM ledger WHERE key_id = '${id}'`);
    expect(rows.map((row) => BigInt(String(row['cost_pico_usd'])))).toEqual([answers[0]?.costPicoUsd]);
  });
});

describe('a replica that is lost', () => {
  it('killed, or silent and back: its requests are closed by the others, and nothing is served unbilled', async () => {
    const own = await PostgresMoneyStore.create(postgres);
    for await (const round of loseReplicas({
      store: own,
      losses: ['killed', 'silent'],
      clientsPerReplica: 5,
      seed: 2,
    })) {
      expectNothingLost(round);
    }
  });
});

describe('a budget', () => {
  it('pays for exactly as many decisions as it is worth on all replicas together', async () => {
    const expected = { decisions: 200, clients: 64 };
    const own = await PostgresMoneyStore.create(postgres);
    expectExactBudget(await spendBudget({ store: own, servers: REPLICAS, ...expected }), expected);
  });
});
