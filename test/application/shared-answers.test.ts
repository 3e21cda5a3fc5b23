// Identical requests over HTTP: what their replies say, and that each is billed.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MergingOptions } from '../../src/engine/sharing/merging-engine.ts';
import { DECISION, DECISION_PICO_USD, DECISION_TOKENS, MeteredServer } from './metered-server.ts';
import { startServerOf, startTestServer, type TestServer } from './test-server.ts';

const ANSWERS: MergingOptions = { merge: true, cacheBytes: 1_000_000, cacheTtlMs: 600_000, scope: 'key' };
const of = (state: string, more: object = {}) => ({ ...DECISION, state, ...more });

describe('replies of a server that shares answers', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServerOf({ answers: ANSWERS });
  });
  afterAll(() => server.app.close());

  it('say whether they were run or kept, and are otherwise the same byte for byte', async () => {
    const replies = [];
    for (let time = 0; time < 2; time++) replies.push(await server.post('/ai/v1/systemone', of('twice')));
    const [first, kept] = replies;
    expect(first?.headers['x-umpire-cache']).toBe('miss');
    expect(kept?.headers['x-umpire-cache']).toBe('hit');
    expect(kept?.text).toBe(first?.text);
    expect(kept?.headers['server-timing']).toBe('queue;dur=0.000, tokenize;dur=0.000, infer;dur=0.000');
    expect(kept?.headers['x-umpire-model-digest']).toBe(first?.headers['x-umpire-model-digest']);
    expect(kept?.headers['x-umpire-cost-usd']).toBe(first?.headers['x-umpire-cost-usd']);
  });

  it('answer other names of the same questions in those names', async () => {
    const named = (name: string) => of('names', { questions: { [name]: DECISION.questions.q } });
    await server.post('/ai/v1/systemone', named('one'));
    const reply = await server.post('/ai/v1/systemone', named('other'));
    expect(reply.headers['x-umpire-cache']).toBe('hit');
    expect(Object.keys(reply.json.answers)).toEqual(['other']);
  });

  it.each(['float', 'base64'])('hold embeddings as %s', async (encoding_format) => {
    const body = { model: 'text-embed-mini', input: ['a', 'b'], encoding_format };
    const [first, kept] = [await server.post('/ai/v1/embeddings', body), await server.post('/ai/v1/embeddings', body)];
    expect([first.headers['x-umpire-cache'], kept.headers['x-umpire-cache']]).toEqual(['miss', 'hit']);
    expect(kept.text).toBe(first.text);
  });

  it('hold rankings, of which each reply takes as many as it asks for', async () => {
    const body = { model: 'reranker', query: 'a b', documents: ['x', 'a', 'a b'] };
    const first = await server.post('/ai/v1/rerank', body);
    const kept = await server.post('/ai/v1/rerank', body);
    const best = await server.post('/ai/v1/rerank', { ...body, top_n: 1, return_documents: true });
    expect([first, kept, best].map(({ headers }) => headers['x-umpire-cache'])).toEqual(['miss', 'hit', 'hit']);
    expect(kept.text).toBe(first.text);
    expect(best.json.results).toEqual([{ ...first.json.results[0], document: { text: 'a b' } }]);
    expect(best.json.usage).toEqual(first.json.usage);
  });

  it('are counted in the metrics', async () => {
    await server.post('/ai/v1/systemone', of('counted'));
    await server.post('/ai/v1/systemone', of('counted'));
    const { text } = await server.get('/metrics');
    const count = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
    expect(count('umpire_answer_cache_requests_total{result="hit"}')).toBeGreaterThan(0);
    expect(count('umpire_answer_cache_requests_total{result="miss"}')).toBeGreaterThan(0);
    expect(count('umpire_answer_cache_requests_total{result="merged"}')).toBe(0);
    expect(count('umpire_answer_cache_bytes')).toBeGreaterThan(0);
  });

  it('tell the tokens of the state that were kept', async () => {
    const { decide } = server.engine;
    server.engine.decide = async (job, caller) => ({
      ...(await decide(job, caller)),
      source: { answer: 'run', keptTokens: 130 },
    });
    const reply = await server.post('/ai/v1/systemone', of('a long one'));
    server.engine.decide = decide;
    expect(reply.headers['x-umpire-kept-tokens']).toBe('130');
  });

  it('say by how much an answer may move that shared runs of a device, kept or not, and nothing of any other', async () => {
    const { decide } = server.engine;
    server.engine.decide = async (job, caller) => ({ ...(await decide(job, caller)), isBatched: true });
    const first = await server.post('/ai/v1/systemone', of('one beside others'));
    const kept = await server.post('/ai/v1/systemone', of('one beside others'));
    server.engine.decide = decide;
    const other = await server.post('/ai/v1/systemone', of('one by itself'));
    expect(first.headers['x-umpire-tolerance']).toBe('0.001');
    expect(kept.headers).toMatchObject({ 'x-umpire-cache': 'hit', 'x-umpire-tolerance': '0.001' });
    expect(other.headers).not.toHaveProperty('x-umpire-tolerance');
  });
});

describe('replies of a server that shares none', () => {
  it('say nothing of it', async () => {
    const server = await startTestServer();
    const reply = await server.post('/ai/v1/systemone', DECISION);
    expect(reply.status).toBe(200);
    expect(reply.headers).not.toHaveProperty('x-umpire-cache');
    expect(reply.headers).not.toHaveProperty('x-umpire-kept-tokens');
    expect((await server.get('/metrics')).text).not.toContain('umpire_answer_cache');
    await server.app.close();
  });
});

describe('the books of a server that shares answers', () => {
  let server: MeteredServer;
  beforeAll(async () => {
    server = await MeteredServer.start({}, { answers: ANSWERS });
  });
  afterEach(() => server.repair());
  afterAll(() => server.close());

  it('hold one whole row for each request: run, merged or kept', async () => {
    const caller = await server.createCaller({ limits: { concurrentRequests: 8 } });
    const begun = Promise.withResolvers<undefined>();
    const goOn = Promise.withResolvers<undefined>();
    const { decide } = server.engine;
    server.engine.decide = async (job, by) => {
      begun.resolve(undefined);
      await goOn.promise;
      return await decide(job, by);
    };
    const first = server.decide(caller);
    await begun.promise;
    const second = server.decide(caller);
    await server.until(async () => (await server.standing(caller)).standing.concurrent?.remaining === 6);
    goOn.resolve(undefined);
    const replies = [await first, await second, await server.decide(caller)];
    expect(replies.map(({ headers }) => headers['x-umpire-cache'])).toEqual(['miss', 'merged', 'hit']);
    const rows = await server.rows(caller);
    expect(rows).toHaveLength(3);
    for (const row of rows) {
      expect(row.costPicoUsd).toBe(DECISION_PICO_USD);
      expect(row.usage.inputTokens).toBe(DECISION_TOKENS);
    }
  });

  it('count a kept answer against a budget', async () => {
    const budget = { amountPicoUsd: 2n * DECISION_PICO_USD, reset: 'none' as const };
    const caller = await server.createCaller({ budget });
    const replies = [];
    for (let time = 0; time < 3; time++) replies.push(await server.decide(caller));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 402]);
    expect(replies[1]?.headers['x-umpire-cache']).toBe('hit');
  });

  it('give a retry with the same idempotency key the first reply, not a second row', async () => {
    const caller = await server.createCaller();
    const replies = [];
    for (let time = 0; time < 2; time++) replies.push(await server.decide(caller, { 'idempotency-key': 'once' }));
    expect(replies[1]?.headers['idempotent-replayed']).toBe('true');
    expect(replies[1]?.headers).not.toHaveProperty('x-umpire-cache');
    expect(await server.rows(caller)).toHaveLength(1);
  });
});
