// What is told of calls to an upstream: every call once, every failure once with its code, wherever it comes; and nothing
// of what is no failure of the upstream.

import { describe, expect, it } from 'vitest';
import { answerHello, answerNothing, cutAfter, HELLO_CHUNKS, refuse, stallAfter } from './upstream-answers.ts';
import type { AnswerScript } from './upstream-double.ts';
import { ask, askStream, collect, failureOf, STAYS, startUpstream, timeouts } from './upstream-fixture.ts';

const WHERE = { name: 'double', modelId: 'llama' };

async function watched(answer: AnswerScript, overrides = {}) {
  const told: string[] = [];
  const watcher = {
    called: () => told.push('called'),
    answered: () => told.push('answered'),
    failed: (code: string, reason: string) => told.push(code, reason),
  };
  return { told, ...(await startUpstream(answer, { watcher, ...overrides })) };
}

describe('an upstream', () => {
  it('that answers was called and has answered', async () => {
    const { told, upstream } = await watched(answerHello);
    await upstream.complete(ask(), STAYS);
    await collect(await upstream.stream(askStream(), STAYS));
    expect(told).toEqual(['called', 'answered', 'called', 'answered']);
  });

  it.each([
    ['refuses', refuse(500, {}), 'upstream_error', 'server_error'],
    ['does not know our key', refuse(401, {}), 'upstream_error', 'refused'],
    ['has no room', refuse(429, {}), 'overloaded', 'rate_limited'],
    ['runs out of time', refuse(504, {}), 'upstream_timeout', 'timeout'],
  ])('that %s failed, with a stream and without', async (_name, answer, code, reason) => {
    const { told, upstream } = await watched(answer);
    const failure = { code, upstream: { ...WHERE, reason } };
    expect(await failureOf(upstream.complete(ask(), STAYS))).toMatchObject(failure);
    expect(await failureOf(upstream.stream(askStream(), STAYS))).toMatchObject(failure);
    expect(told).toEqual(['called', code, reason, 'called', code, reason]);
  });

  it.each([
    ['breaks off', cutAfter(HELLO_CHUNKS.slice(0, 2)), {}, 'upstream_error', 'broken_reply'],
    ['falls silent', stallAfter(HELLO_CHUNKS.slice(0, 2)), timeouts({ idleMs: 100 }), 'upstream_timeout', 'timeout'],
  ])('that %s in mid-stream failed once', async (_name, answer, limits, code, reason) => {
    const { told, upstream } = await watched(answer, limits);
    const stream = await upstream.stream(askStream(), STAYS);
    expect(await failureOf(collect(stream))).toMatchObject({ code, upstream: { ...WHERE, reason } });
    expect(told).toEqual(['called', code, reason]);
  });

  it('did not fail where the caller did, or left', async () => {
    const { told, double, upstream } = await watched(refuse(400, { message: 'No.' }));
    expect(await failureOf(upstream.complete(ask(), STAYS))).toMatchObject({
      code: 'invalid_request',
      upstream: undefined,
    });
    double.answer = answerNothing;
    const client = new AbortController();
    const call = upstream.complete(ask(), client.signal);
    await double.until(() => double.requests.length === 2);
    client.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
    expect(told).toEqual(['called', 'called']);
  });
});
