// A key without room for any request hears so before a large body of it is read.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { NO_LIMITS } from '../../src/domain/api-key.ts';
import { AdminServer, type Caller } from './admin-server.ts';

const SYSTEMONE = '/ai/v1/systemone';
const CHAT = '/ai/v1/chat/completions';
const BUDGET = { amountPicoUsd: 0n, reset: 'month' } as const;
/** Not JSON: a body that is read is a 400. */
const LARGE = '{'.padEnd(70_000, ' ');
const SMALL = '{'.padEnd(60_000, ' ');

let admin: AdminServer;
beforeAll(async () => {
  admin = await AdminServer.start();
});
afterAll(async () => await admin.close());

async function send(caller: Caller, body: string, headers: Record<string, string> = {}, path = SYSTEMONE) {
  const reply = await admin.server.post(path, body, { ...caller.headers, ...headers });
  return { code: reply.json.error.code as string, message: reply.json.error.message as string, headers: reply.headers };
}

it('a spent budget is told first, whatever the body holds', async () => {
  const caller = await admin.createCaller({ budget: BUDGET });
  const refused = await send(caller, LARGE);
  expect(refused.code).toBe('insufficient_quota');
  expect(refused.message).toBe(
    "Nothing is left of this key's budget of $0 a month. It resets at 2026-12-01T00:00:00Z.",
  );
  expect(refused.headers['x-umpire-budget-remaining-usd']).toBe('0');
  expect((await send(caller, SMALL)).code).toBe('invalid_request');
});

it('a spent budget is told first, but not where a model is free, nor where an earlier reply may be asked for again', async () => {
  const caller = await admin.createCaller({ budget: BUDGET });
  await admin.administration.prices.set(
    {
      modelId: 'llama',
      price: { inputMicroUsd: 0, cachedInputMicroUsd: 0, outputMicroUsd: 0 },
      effectiveFromMs: undefined,
    },
    'test',
  );
  expect((await send(caller, LARGE, {}, CHAT)).code).toBe('invalid_request');
  expect((await send(caller, LARGE, { 'idempotency-key': 'again' })).code).toBe('invalid_request');
});

it('a full limit is told with the time to wait', async () => {
  const limits = { ...NO_LIMITS, requestsPerMinute: 1 };
  const caller = await admin.createCaller({ limits });
  expect((await send(caller, LARGE)).code).toBe('invalid_request');
  await admin.bill(caller.key, { id: 'first' });
  const refused = await send(caller, LARGE);
  expect(refused.code).toBe('rate_limit_exceeded');
  expect(refused.message).toMatch(/^This key may make 1 requests a minute\. Try again in [\d.]+ s\.$/);
  const waitMs = Number(refused.headers['retry-after-ms']);
  expect(waitMs).toBeGreaterThan(0);
  admin.clock.nowMs += waitMs - 1;
  expect((await send(caller, LARGE)).code).toBe('rate_limit_exceeded');
  admin.clock.nowMs += 1;
  expect((await send(caller, LARGE)).code).toBe('invalid_request');
});

it('a full limit of tokens is told with the time to wait as well', async () => {
  const caller = await admin.createCaller({ limits: { ...NO_LIMITS, tokensPerMinute: 1 } });
  await admin.bill(caller.key, {
    id: 'tokens',
    usage: { inputTokens: 1, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
  });
  expect((await send(caller, LARGE)).message).toMatch(/^This key may use 1 tokens a minute, and none are left\./);
});
