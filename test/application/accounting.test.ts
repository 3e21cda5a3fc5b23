// Keys with budgets and limits over a real store: what is let in, what is refused and in which words and headers, what
// each request leaves in the ledger, to the pico-dollar.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { NO_LIMITS } from '../../src/domain/api-key.ts';
import { AppError } from '../../src/domain/errors.ts';
import { DECISION, DECISION_PICO_USD, DECISION_TOKENS, MeteredServer, NOON_MS } from './metered-server.ts';

let server: MeteredServer;
beforeAll(async () => {
  server = await MeteredServer.start();
});
afterEach(() => server.repair());
afterAll(() => server.close());

const budgetFor = (decisions: number) => ({
  amountPicoUsd: BigInt(decisions) * DECISION_PICO_USD,
  reset: 'month' as const,
});

describe('a request', () => {
  it('tells its exact cost and leaves one row', async () => {
    const caller = await server.createCaller();
    const reply = await server.decide(caller, { 'x-request-id': 'mine' });
    expect(reply.status).toBe(200);
    expect(reply.headers['x-umpire-cost-usd']).toBe('0.000000189');
    expect(Object.keys(reply.headers).filter((name) => /ratelimit|budget|replayed/.test(name))).toEqual([]);
    expect(await server.rows(caller)).toEqual([
      {
        id: expect.any(String),
        requestId: 'mine',
        keyId: caller.key.id,
        modelId: 'kev',
        endpoint: '/ai/v1/systemone',
        isStreamed: false,
        acceptedAtMs: NOON_MS,
        price: { inputMicroUsd: 37_800, cachedInputMicroUsd: 37_800, outputMicroUsd: 0 },
        end: 'completed',
        status: 200,
        errorCode: null,
        usage: { inputTokens: DECISION_TOKENS, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
        isEstimated: false,
        costPicoUsd: DECISION_PICO_USD,
        durationMs: 0,
        waitMs: 0,
        upstream: null,
        upstreamFailures: null,
      },
    ]);
  });

  it('of a model without a price costs nothing', async () => {
    const caller = await server.createCaller({ budget: { amountPicoUsd: 1n, reset: 'none' } });
    const reply = await server.post('/ai/v1/embeddings', { model: 'text-embed-mini', input: 'one two' }, caller);
    expect(reply.status).toBe(200);
    expect(reply.headers['x-umpire-cost-usd']).toBe('0');
    expect(reply.headers['x-umpire-budget-remaining-usd']).toBe('0.000000000001');
    expect(await server.rows(caller)).toMatchObject([{ endpoint: '/ai/v1/embeddings', costPicoUsd: 0n, status: 200 }]);
  });

  it('that is wrong leaves none', async () => {
    const caller = await server.createCaller({ models: ['kev'] });
    const wrong = [
      { ...DECISION, state: 1 },
      { ...DECISION, model: 'nope' },
      { ...DECISION, model: 'llama' },
      'no json',
    ];
    for (const body of wrong) expect((await server.decide(caller, {}, body)).status).toBeLessThan(500);
    expect(await server.rows(caller)).toEqual([]);
  });
});

describe('a budget', () => {
  it('says what is left, and refuses what would pass it', async () => {
    const caller = await server.createCaller({ budget: budgetFor(2) });
    const first = await server.decide(caller);
    expect(first.headers['x-umpire-budget-remaining-usd']).toBe('0.000000189');
    const second = await server.decide(caller);
    expect(second.headers['x-umpire-budget-remaining-usd']).toBe('0');
    const third = await server.decide(caller);
    expect(third.status).toBe(402);
    expect(third.json).toEqual({
      error: {
        message:
          "This request may cost $0.000000189, and $0 is left of this key's budget of $0.000000378 a month. It resets at 2026-12-01T00:00:00Z.",
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    });
    expect(third.headers['x-umpire-budget-remaining-usd']).toBe('0');
    expect(third.headers['x-umpire-cost-usd']).toBeUndefined();
    expect(await server.rows(caller)).toHaveLength(2);
    expect(await server.metricsText()).toContain('umpire_http_errors_total{code="insufficient_quota"} 1');
  });

  it('counts anew from its reset on', async () => {
    const caller = await server.createCaller({ budget: budgetFor(1) });
    await server.decide(caller);
    server.clock.advance(Date.UTC(2026, 11, 1) - server.clock.nowMs() - 1);
    expect((await server.decide(caller)).status).toBe(402);
    server.clock.advance(1);
    expect((await server.decide(caller)).status).toBe(200);
  });

  it('is kept to the pico-dollar by requests at the same time', async () => {
    const caller = await server.createCaller({
      budget: { ...budgetFor(20), amountPicoUsd: 20n * DECISION_PICO_USD + 1n },
    });
    const replies = await Promise.all(Array.from({ length: 64 }, () => server.decide(caller)));
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 402)).toHaveLength(44);
    expect(await server.standing(caller)).toMatchObject({ spentPicoUsd: 20n * DECISION_PICO_USD, reservedPicoUsd: 0n });
    const costs = (await server.rows(caller)).map(({ costPicoUsd }) => costPicoUsd);
    expect(costs).toEqual(Array.from({ length: 20 }, () => DECISION_PICO_USD));
  });

  it('is charged for every document of a ranking, however few are told', async () => {
    const costPicoUsd = 9n * 20_000n;
    const caller = await server.createCaller({ budget: { amountPicoUsd: costPicoUsd, reset: 'none' } });
    const body = { model: 'reranker', query: 'one two', documents: ['a', 'b c'], top_n: 1 };
    const refused = await server.post('/ai/v1/rerank', { ...body, documents: ['a', 'b c', 'd'] }, caller);
    expect([refused.status, refused.json.error.code]).toEqual([402, 'insufficient_quota']);
    const larger = { ...body, documents: ['a b', 'b c d'] };
    const reply = await server.post('/ai/v1/rerank', larger, caller);
    expect([reply.status, reply.json.usage.total_tokens]).toEqual([200, 9]);
    expect(reply.headers['x-umpire-cost-usd']).toBe('0.00000018');
    expect(reply.headers['x-umpire-budget-remaining-usd']).toBe('0');
    expect(await server.rows(caller)).toMatchObject([
      { endpoint: '/ai/v1/rerank', modelId: 'reranker', costPicoUsd, usage: { inputTokens: 9 } },
    ]);
  });
});

describe('limits', () => {
  it('of requests a minute say when to come back', async () => {
    const caller = await server.createCaller({ limits: { ...NO_LIMITS, requestsPerMinute: 2 } });
    const first = await server.decide(caller);
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': expect.stringMatching(/^(\d+m)?\d+(\.\d+)?m?s$/),
    });
    expect(first.headers['x-ratelimit-limit-tokens']).toBeUndefined();
    await server.decide(caller);
    const refused = await server.decide(caller);
    expect([refused.status, refused.json.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(refused.headers).toMatchObject({ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-limit-requests': '2' });
    const waitMs = Number(refused.headers['retry-after-ms']);
    expect(Number(refused.headers['retry-after'])).toBe(Math.ceil(waitMs / 1000));
    server.clock.advance(waitMs - 1);
    expect((await server.decide(caller)).status).toBe(429);
    server.clock.advance(1);
    expect((await server.decide(caller)).status).toBe(200);
    expect(await server.rows(caller)).toHaveLength(3);
  });

  it('of tokens a minute count what a request would use', async () => {
    const caller = await server.createCaller({ limits: { ...NO_LIMITS, tokensPerMinute: 12 } });
    const first = await server.decide(caller);
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit-tokens': '12',
      'x-ratelimit-remaining-tokens': '7',
    });
    await server.decide(caller);
    const refused = await server.decide(caller);
    expect(refused.status).toBe(429);
    expect(refused.json.error.message).toMatch(
      /^This request may use 5 tokens; this key may use 12 a minute, and 2 are left/,
    );
    server.clock.advance(Number(refused.headers['retry-after-ms']));
    expect((await server.decide(caller)).status).toBe(200);
  });

  it('that no waiting can meet ask for none', async () => {
    const caller = await server.createCaller({ limits: { ...NO_LIMITS, tokensPerMinute: 4 } });
    const refused = await server.decide(caller);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBeUndefined();
    expect(refused.json.error.message).toContain('Waiting does not help.');
  });

  it('of requests at a time are free again when one has ended', async () => {
    const caller = await server.createCaller({ limits: { ...NO_LIMITS, concurrentRequests: 1 } });
    const [began, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { decide } = server.engine;
    server.engine.decide = async (...asked) => {
      began.resolve();
      await goOn.promise;
      return await decide(...asked);
    };
    const first = server.decide(caller);
    await began.promise;
    const refused = await server.decide(caller);
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({
      'x-ratelimit-limit-concurrent': '1',
      'x-ratelimit-remaining-concurrent': '0',
      'retry-after-ms': '1000',
    });
    goOn.resolve();
    expect((await first).headers['x-ratelimit-remaining-concurrent']).toBe('1');
    expect((await server.decide(caller)).status).toBe(200);
  });

  it('are those of each key alone', async () => {
    const limits = { ...NO_LIMITS, requestsPerMinute: 1 };
    const [one, other] = [await server.createCaller({ limits }), await server.createCaller({ limits })];
    expect((await server.decide(one)).status).toBe(200);
    expect((await server.decide(other)).status).toBe(200);
    expect((await server.decide(one)).status).toBe(429);
  });
});

describe('a request that is let in and then not answered', () => {
  const limits = { requestsPerMinute: 1, tokensPerMinute: 100, concurrentRequests: 1 };

  it.each([
    new AppError('overloaded', 'Too much to do.', { retryAfterMs: 100 }),
    new AppError('context_length_exceeded', 'Too long.'),
  ])('leaves nothing if it was never taken on: $code', async (error) => {
    const caller = await server.createCaller({ limits, budget: budgetFor(1) });
    const { decide } = server.engine;
    server.engine.decide = async () => {
      throw error;
    };
    expect((await server.decide(caller)).json.error.code).toBe(error.code);
    expect(await server.rows(caller)).toEqual([]);
    server.engine.decide = decide;
    expect((await server.decide(caller)).status).toBe(200);
  });

  it('is not let in at all if counting finds it too long', async () => {
    const caller = await server.createCaller({ limits });
    server.engine.countDecisionTokens = async () => {
      throw new AppError('context_length_exceeded', 'Too long.');
    };
    expect((await server.decide(caller)).json.error.code).toBe('context_length_exceeded');
    expect(await server.rows(caller)).toEqual([]);
  });

  it('costs nothing if the server failed', async () => {
    const caller = await server.createCaller({ budget: budgetFor(1) });
    const { decide } = server.engine;
    server.engine.decide = async () => {
      throw new Error('a fault of ours');
    };
    expect((await server.decide(caller)).status).toBe(500);
    expect(await server.rows(caller)).toMatchObject([
      { end: 'failed', status: 500, errorCode: 'internal_error', costPicoUsd: 0n, usage: { inputTokens: 0 } },
    ]);
    server.engine.decide = decide;
    expect((await server.decide(caller)).status).toBe(200);
  });

  it('costs nothing if its client left before its work began', async () => {
    const caller = await server.createCaller({ budget: budgetFor(1) });
    const [waiting, dropped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    server.engine.decide = async (_job, { signal }) => {
      waiting.resolve();
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      throw new Error('unreachable');
    };
    server.ledger.onCall = (call) => {
      if (call === 'settle') dropped.resolve();
    };
    const client = new AbortController();
    const left = expect(server.fetchDecision(caller, { signal: client.signal })).rejects.toThrow();
    await waiting.promise;
    client.abort();
    await left;
    await dropped.promise;
    await server.until(async () => (await server.rows(caller)).length > 0);
    expect(await server.rows(caller)).toMatchObject([
      { end: 'client_left', status: 499, errorCode: null, costPicoUsd: 0n },
    ]);
    expect(await server.standing(caller)).toMatchObject({ spentPicoUsd: 0n, reservedPicoUsd: 0n });
  });

  it('is billed if its work was done', async () => {
    const caller = await server.createCaller({ budget: budgetFor(2) });
    const [began, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { decide } = server.engine;
    server.engine.decide = async (job, asked) => {
      asked.signal.addEventListener('abort', () => gone.resolve());
      began.resolve();
      await gone.promise;
      return await decide(job, asked);
    };
    const client = new AbortController();
    const left = expect(server.fetchDecision(caller, { signal: client.signal })).rejects.toThrow();
    await began.promise;
    client.abort();
    await left;
    await server.until(async () => (await server.rows(caller)).length > 0);
    expect(await server.rows(caller)).toMatchObject([
      { end: 'client_left', status: 499, costPicoUsd: DECISION_PICO_USD },
    ]);
    expect(await server.standing(caller)).toMatchObject({ spentPicoUsd: DECISION_PICO_USD, reservedPicoUsd: 0n });
  });
});
