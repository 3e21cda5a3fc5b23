import { describe, expect, it } from 'vitest';
import { Pace, type PaceClock } from './pace.ts';
import { findQueueShare, findRetryAfterMs, PatientAsker } from './patient-asker.ts';
import type { WireReply } from './server-connection.ts';

const REQUEST = { path: '/ai/v1/systemone', body: '{}', idempotencyKey: 'a-row' };
const ANSWER: WireReply = { status: 200, body: '{"answers":{}}', headers: {} };

function refusal(status: number, error: object = {}, headers: WireReply['headers'] = {}): WireReply {
  return {
    status,
    body: JSON.stringify({ error: { message: 'no', code: 'refused', param: null, ...error } }),
    headers,
  };
}

/** A server that gives these replies in turn, then the last one for ever; an error is a connection that breaks. */
async function ask(...script: readonly (WireReply | Error)[]) {
  let nowMs = 0;
  const pauses: number[] = [];
  const keys: (string | undefined)[] = [];
  const clock: PaceClock = {
    nowMs: () => nowMs,
    pause: async (delayMs) => {
      pauses.push(Math.round(delayMs));
      nowMs += delayMs;
    },
  };
  const server = {
    post: async (_path: string, _body: string, headers: Readonly<Record<string, string>> = {}) => {
      keys.push(headers['idempotency-key']);
      const next = script[Math.min(keys.length, script.length) - 1];
      if (next instanceof Error || next === undefined) throw next;
      return next;
    },
    close: async () => undefined,
  };
  const pace = new Pace(4, clock, () => 0);
  const signal = new AbortController().signal;
  const asker = new PatientAsker({ server, pace, clock, signal });
  const ending = await asker.ask(REQUEST, await pace.enter(signal));
  expect(pace.underWay).toBe(0);
  return { ending, pauses, keys };
}

describe('who asks patiently', () => {
  it('comes back when the server says, with the same idempotency key', async () => {
    const full = refusal(503, { code: 'overloaded' }, { 'retry-after': '3', 'retry-after-ms': '2500' });
    const limited = refusal(429, { code: 'rate_limit_exceeded' }, { 'retry-after': '40' });
    const { ending, pauses, keys } = await ask(full, limited, ANSWER);
    expect(ending).toEqual({ type: 'answered', reply: ANSWER });
    expect(pauses).toEqual([2500, 40_000]);
    expect(keys).toEqual(['a-row', 'a-row', 'a-row']);
  });

  it('waits longer and longer where the server does not say', async () => {
    expect((await ask(refusal(503), refusal(503), refusal(503), ANSWER)).pauses).toEqual([500, 1000, 2000]);
  });

  it('waits for the request of a run before that is still under way', async () => {
    const { ending, keys } = await ask(refusal(409, { code: 'idempotency_key_in_use' }), ANSWER);
    expect(ending.type).toBe('answered');
    expect(keys).toHaveLength(2);
  });

  it.each([400, 413, 422])('takes a %s as the fault of this request', async (status) => {
    const { ending, keys } = await ask(refusal(status, { message: 'too long', code: 'context_length_exceeded' }));
    expect(ending).toMatchObject({ type: 'refused', refusal: { status, message: 'too long' } });
    expect(keys).toHaveLength(1);
  });

  it('tries a fault of the server a few times, then takes it as this request’s', async () => {
    const { ending, keys } = await ask(refusal(500, { code: 'internal_error' }));
    expect(ending).toMatchObject({ type: 'refused', refusal: { status: 500, code: 'internal_error' } });
    expect(keys).toHaveLength(5);
  });

  it.each([401, 402, 403, 404, 301])('asks nothing more after a %s', async (status) => {
    await expect(ask(refusal(status, { message: 'The key is revoked.' }))).rejects.toThrow('The key is revoked.');
  });

  it('asks nothing more when the fault is in what all requests share', async () => {
    const wrong = refusal(400, { message: 'A choice needs an option.', param: 'questions[0].criteria' });
    await expect(ask(wrong)).rejects.toThrow('A choice needs an option.');
  });

  it('says at once that there is no server, and not when it was there before', async () => {
    await expect(ask(new Error('connect ECONNREFUSED'))).rejects.toThrow(
      'No answer from the server: connect ECONNREFUSED.',
    );
  });

  it('gives up in the end', async () => {
    await expect(ask(refusal(503, { message: 'Full.' }))).rejects.toThrow('Full. (refused)');
    const tomorrow = refusal(429, { message: 'Come back tomorrow.' }, { 'retry-after': '86400' });
    await expect(ask(tomorrow)).rejects.toThrow('Come back tomorrow.');
  });
});

describe('headers', () => {
  it('tell when to come back, in milliseconds, in seconds or as a date', () => {
    expect(findRetryAfterMs({ 'retry-after-ms': '120', 'retry-after': '1' })).toBe(120);
    expect(findRetryAfterMs({ 'retry-after': '2' })).toBe(2000);
    const nowMs = Date.UTC(2026, 10, 21);
    expect(findRetryAfterMs({ 'retry-after': 'Sat, 21 Nov 2026 00:00:09 GMT' }, nowMs)).toBe(9000);
    expect(findRetryAfterMs({ 'retry-after': 'soon' })).toBeUndefined();
    expect(findRetryAfterMs({})).toBeUndefined();
  });

  it('tell which part of the time a request waited', () => {
    expect(findQueueShare({ 'server-timing': 'queue;dur=30, tokenize;dur=1, infer;dur=10' })).toBe(0.75);
    expect(findQueueShare({ 'server-timing': 'queue;dur=0.000, tokenize;dur=0.100, infer;dur=0.000' })).toBeUndefined();
    expect(findQueueShare({})).toBeUndefined();
  });
});
