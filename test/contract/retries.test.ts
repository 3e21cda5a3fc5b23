// What the official clients do by themselves when a reply is lost or refused, against a server with keys, limits and a
// ledger: with an `Idempotency-Key` their retries are free.

import { APIError as DecisionError, TypeSafeClient } from '@typesafe-ai/sdk';
import OpenAI, { APIError as ChatFormatError } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, DECISION_PICO_USD, MeteredServer } from '../application/metered-server.ts';

const KEY = { 'Idempotency-Key': 'order-7' };
const QUESTIONS = { q: { type: 'noul', instructions: 'is it' } } as const;
const BUDGET = { amountPicoUsd: DECISION_PICO_USD, reset: 'none' } as const;

let server: MeteredServer;
let address: string;
let caller: Caller;
beforeAll(async () => {
  server = await MeteredServer.start();
  address = await server.listen();
});
afterEach(() => server.repair());
afterAll(() => server.close());

type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

const decider = (fetch: Fetch) =>
  new TypeSafeClient({ baseURL: `${address}/ai`, apiKey: caller.secret, defaultModel: 'kev', logLevel: 'off', fetch });
const embedder = (fetch: Fetch) =>
  new OpenAI({
    baseURL: `${address}/ai/v1`,
    apiKey: caller.secret,
    fetch: (input, init) => fetch(String(input), init),
  });

/** The first reply arrives, and is lost on the last yard. */
function losingFirst(): { readonly fetch: Fetch; readonly replies: Response[] } {
  const replies: Response[] = [];
  const fetchAll: Fetch = async (input, init) => {
    const reply = await fetch(input, init);
    replies.push(reply);
    if (replies.length > 1) return reply;
    await reply.text();
    throw new TypeError('connection lost');
  };
  return { fetch: fetchAll, replies };
}

describe('a lost reply', () => {
  it('of a decision is asked for again, and not paid for again', async () => {
    caller = await server.createCaller({ budget: BUDGET });
    const { fetch, replies } = losingFirst();
    const { answers } = await decider(fetch).systemOne(
      { state: 'one two three', questions: QUESTIONS },
      { headers: KEY },
    );
    expect(answers.q.noul).toBeCloseTo(1 / 3);
    expect(replies.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(await server.rows(caller)).toMatchObject([{ end: 'completed', costPicoUsd: DECISION_PICO_USD }]);
  });

  it('of an embedding call is asked for again, and is one row', async () => {
    caller = await server.createCaller();
    const { fetch, replies } = losingFirst();
    const request = { model: 'text-embed-mini', input: ['one', 'two'] };
    const { data } = await embedder(fetch).embeddings.create(request, { headers: KEY });
    expect(data).toHaveLength(2);
    expect(replies.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(await server.rows(caller)).toHaveLength(1);
  });

  it('without the header is run and paid for twice', async () => {
    caller = await server.createCaller();
    const { fetch } = losingFirst();
    await decider(fetch).systemOne({ state: 'one two three', questions: QUESTIONS });
    expect(await server.rows(caller)).toHaveLength(2);
  });
});

it('an attempt that the client gave up is joined by its next one', async () => {
  caller = await server.createCaller({ budget: BUDGET });
  const [began, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { decide } = server.engine;
  let runs = 0;
  server.engine.decide = async (...asked) => {
    runs += 1;
    began.resolve();
    await goOn.promise;
    return await decide(...asked);
  };
  let attempts = 0;
  const impatient: Fetch = async (input, init) => {
    attempts += 1;
    if (attempts > 1) {
      goOn.resolve();
      return await fetch(input, init);
    }
    const client = new AbortController();
    void began.promise.then(() => client.abort());
    return await fetch(input, { ...init, signal: client.signal }).catch(() => {
      throw new TypeError('timed out');
    });
  };
  const asked = decider(impatient).systemOne({ state: 'one two three', questions: QUESTIONS }, { headers: KEY });
  expect((await server.settled(asked)).answers.q.noul).toBeCloseTo(1 / 3);
  expect([attempts, runs]).toEqual([2, 1]);
  expect(await server.rows(caller)).toHaveLength(1);
});

describe('a refusal', () => {
  it('of a spent budget is told at once and not tried again', async () => {
    caller = await server.createCaller({ budget: { ...BUDGET, amountPicoUsd: 1n } });
    let attempts = 0;
    const counting: Fetch = async (input, init) => {
      attempts += 1;
      return await fetch(input, init);
    };
    const asked = decider(counting).systemOne({ state: 'one', questions: QUESTIONS });
    const error = await asked.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(DecisionError);
    expect(error).toMatchObject({ status: 402, message: expect.stringContaining("is left of this key's budget") });
    expect(attempts).toBe(1);
  });

  it('because the store failed is tried again when the server says so', async () => {
    caller = await server.createCaller();
    server.ledger.down = 'all';
    const statuses: number[] = [];
    const repairing: Fetch = async (input, init) => {
      const reply = await fetch(input, init);
      statuses.push(reply.status);
      server.ledger.down = 'none';
      return reply;
    };
    await embedder(repairing).embeddings.create({ model: 'text-embed-mini', input: 'one' });
    expect(statuses).toEqual([503, 200]);
    expect(await server.rows(caller)).toHaveLength(1);
  });

  it('of an Idempotency-Key that was used is a mistake of the caller', async () => {
    caller = await server.createCaller();
    const { embeddings } = embedder(fetch);
    await embeddings.create({ model: 'text-embed-mini', input: 'one' }, { headers: KEY });
    const asked = embeddings.create({ model: 'text-embed-mini', input: 'two' }, { headers: KEY });
    const error = await asked.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ChatFormatError);
    expect(error).toMatchObject({ status: 400, code: 'idempotency_key_reused', param: 'Idempotency-Key' });
  });
});
