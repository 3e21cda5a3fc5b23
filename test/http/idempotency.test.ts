// Retries with an `Idempotency-Key` over a real store: run once, billed once, answered the same; and what is no retry.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { type Caller, DECISION, DECISION_PICO_USD, MeteredServer } from '../application/metered-server.ts';

let server: MeteredServer;
let caller: Caller;
beforeAll(async () => {
  server = await MeteredServer.start();
});
afterEach(() => server.repair());
afterAll(() => server.close());

const KEY = { 'idempotency-key': 'order-7' };
const OTHER_DECISION = { ...DECISION, state: 'another state' };

/** Counts runs, and holds each until it is told to go on. */
function holdEngine() {
  const [began, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { decide } = server.engine;
  const held = { runs: 0, began: began.promise, goOn: goOn.resolve };
  server.engine.decide = async (...asked) => {
    held.runs += 1;
    began.resolve();
    await goOn.promise;
    return await decide(...asked);
  };
  return held;
}

describe('a retry', () => {
  it('is given the first reply, whole, and is neither run nor billed', async () => {
    caller = await server.createCaller({ budget: { amountPicoUsd: DECISION_PICO_USD, reset: 'none' } });
    const held = holdEngine();
    held.goOn();
    const first = await server.decide(caller, KEY);
    const second = await server.decide(caller, { ...KEY, 'x-request-id': 'again' });
    expect([first.status, second.status, second.text]).toEqual([200, 200, first.text]);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(second.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'x-request-id': 'again',
      'content-type': first.headers['content-type'],
      'x-umpire-cost-usd': '0.000000189',
      'x-umpire-model-digest': first.headers['x-umpire-model-digest'],
    });
    expect(held.runs).toBe(1);
    expect(await server.rows(caller)).toHaveLength(1);
    expect(await server.standing(caller)).toMatchObject({ spentPicoUsd: DECISION_PICO_USD, reservedPicoUsd: 0n });
  });

  it('works for embeddings', async () => {
    caller = await server.createCaller();
    const body = { model: 'text-embed-mini', input: ['one', 'two'], encoding_format: 'base64' };
    const post = () => server.post('/ai/v1/embeddings', body, { headers: { ...caller.headers, ...KEY } });
    const [first, second] = [await post(), await post()];
    expect([second.status, second.text, second.headers['idempotent-replayed']]).toEqual([200, first.text, 'true']);
    expect(await server.rows(caller)).toHaveLength(1);
  });

  it('waits while the first runs, and is given its reply', async () => {
    caller = await server.createCaller();
    const held = holdEngine();
    const first = server.decide(caller, KEY);
    await held.began;
    const looked = Promise.withResolvers<void>();
    server.ledger.onCall = () => looked.resolve();
    const second = server.decide(caller, KEY);
    await looked.promise;
    held.goOn();
    expect((await first).headers['idempotent-replayed']).toBeUndefined();
    const replayed = await server.settled(second);
    expect([replayed.text, replayed.headers['idempotent-replayed']]).toEqual([(await first).text, 'true']);
    expect(held.runs).toBe(1);
  });

  it('is one of many at the same time, of which one runs', async () => {
    caller = await server.createCaller();
    const held = holdEngine();
    held.goOn();
    const asked = Array.from({ length: 16 }, () => server.decide(caller, KEY));
    await Promise.race(asked);
    const replies = await server.settled(Promise.all(asked));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(replies.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(held.runs).toBe(1);
    expect(await server.rows(caller)).toHaveLength(1);
  });

  it('does not wait for ever', async () => {
    caller = await server.createCaller();
    const held = holdEngine();
    const first = server.decide(caller, KEY);
    await held.began;
    const second = await server.settled(server.decide(caller, KEY));
    expect([second.status, second.json.error.code]).toEqual([409, 'idempotency_key_in_use']);
    expect(second.headers['retry-after-ms']).toBe('1000');
    held.goOn();
    expect((await first).status).toBe(200);
  });

  it('runs anew if the first failed', async () => {
    caller = await server.createCaller();
    const { decide } = server.engine;
    server.engine.decide = async () => {
      throw new AppError('overloaded', 'Later.', { retryAfterMs: 1 });
    };
    expect((await server.decide(caller, KEY)).status).toBe(503);
    server.engine.decide = async () => {
      throw new Error('a fault of ours');
    };
    expect((await server.decide(caller, KEY)).status).toBe(500);
    server.engine.decide = decide;
    server.clock.advance(1);
    const third = await server.decide(caller, KEY);
    expect([third.status, third.headers['idempotent-replayed']]).toEqual([200, undefined]);
    expect(await server.rows(caller)).toMatchObject([{ end: 'failed', costPicoUsd: 0n }, { end: 'completed' }]);
  });

  it('of a client that lost its reply is given it', async () => {
    caller = await server.createCaller();
    const held = holdEngine();
    const client = new AbortController();
    const lost = expect(server.fetchDecision(caller, { signal: client.signal, headers: KEY })).rejects.toThrow();
    await held.began;
    client.abort();
    await lost;
    held.goOn();
    const retry = await server.settled(server.decide(caller, KEY));
    expect([retry.status, retry.headers['idempotent-replayed']]).toEqual([200, 'true']);
    expect(held.runs).toBe(1);
    const rows = await server.rows(caller);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.costPicoUsd).toBe(DECISION_PICO_USD);
  });

  it('is refused if the reply was too large to be kept', async () => {
    caller = await server.createCaller();
    const questions = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`question ${i}`, { type: 'noul', instructions: 'is it' }]),
    );
    expect((await server.decide(caller, KEY, { ...DECISION, questions })).status).toBe(200);
    const retry = await server.decide(caller, KEY, { ...DECISION, questions });
    expect([retry.status, retry.json.error.code]).toEqual([409, 'idempotency_key_in_use']);
    expect(retry.json.error.message).toContain('too large to be kept');
    expect(await server.rows(caller)).toHaveLength(1);
  });

  it('is a new request once the window is over', async () => {
    caller = await server.createCaller();
    await server.decide(caller, KEY);
    server.clock.advance(3_600_000);
    const later = await server.decide(caller, KEY);
    expect([later.status, later.headers['idempotent-replayed']]).toEqual([200, undefined]);
    expect(await server.rows(caller)).toHaveLength(2);
  });
});

describe('no retry is', () => {
  beforeAll(async () => {
    caller = await server.createCaller();
  });

  it('another body under the same key', async () => {
    await server.decide(caller, KEY);
    const reply = await server.decide(caller, KEY, OTHER_DECISION);
    expect([reply.status, reply.json.error.code, reply.json.error.param]).toEqual([
      400,
      'idempotency_key_reused',
      'Idempotency-Key',
    ]);
  });

  it('another route under the same key', async () => {
    const headers = { ...caller.headers, ...KEY };
    const reply = await server.post('/ai/v1/embeddings', { model: 'text-embed-mini', input: 'x' }, { headers });
    expect([reply.status, reply.json.error.code]).toEqual([400, 'idempotency_key_reused']);
  });

  it('the same request of another API key', async () => {
    const other = await server.createCaller();
    const reply = await server.decide(other, KEY);
    expect([reply.status, reply.headers['idempotent-replayed']]).toEqual([200, undefined]);
  });

  it('the same request without the header', async () => {
    expect((await server.decide(caller)).headers['idempotent-replayed']).toBeUndefined();
  });
});

describe('the header', () => {
  it.each([
    ['empty', ''],
    ['with a space', 'a b'],
    ['given twice', 'a, b'],
    ['not ASCII', 'é'],
    ['too long', 'x'.repeat(256)],
  ])('is refused if it is %s', async (_what, value) => {
    caller = await server.createCaller();
    const reply = await server.decide(caller, { 'idempotency-key': value });
    expect([reply.status, reply.json.error.code, reply.json.error.param]).toEqual([
      400,
      'invalid_request',
      'Idempotency-Key',
    ]);
    expect(await server.rows(caller)).toEqual([]);
  });

  it('may be 255 characters of any visible kind', async () => {
    caller = await server.createCaller();
    const value = `'"\\%_;--${'~'.repeat(247)}`;
    expect((await server.decide(caller, { 'idempotency-key': value })).status).toBe(200);
    expect((await server.decide(caller, { 'idempotency-key': value })).headers['idempotent-replayed']).toBe('true');
  });
});
