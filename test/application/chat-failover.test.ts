// What becomes of a chat call that one upstream could not answer and another did: one answer, one row, and the name of who
// answered in both.

import { describe, expect, it } from 'vitest';
import { answerHello, answerNothing, cutAfter, HELLO_CHUNKS, refuse } from '../upstream/upstream-answers.ts';
import type { AnswerScript } from '../upstream/upstream-double.ts';
import { cost, startBilledChat } from './billed-chat.ts';

describe.each([false, true])('a chat call that goes to another upstream, streamed: %s', (stream) => {
  it('is billed once, and its head and its row say who answered', async () => {
    const { ask, row } = await startBilledChat(refuse(500, {}), { other: answerHello });
    const reply = await ask({ stream });
    expect(reply.headers.get('x-umpire-upstream')).toBe('other');
    expect(await reply.text()).toContain(' there!');
    expect(await row()).toMatchObject({
      end: 'completed',
      costPicoUsd: cost(9, 3),
      upstream: 'other',
      upstreamFailures: 'double:server_error',
    });
  });

  it('that the first answers says so too', async () => {
    const { ask, row, otherDouble } = await startBilledChat(answerHello, { other: refuse(500, {}) });
    const reply = await ask({ stream });
    expect(reply.headers.get('x-umpire-upstream')).toBe('double');
    await reply.text();
    expect(await row()).toMatchObject({ end: 'completed', upstream: 'double', upstreamFailures: null });
    expect(otherDouble.requests).toHaveLength(0);
  });

  it('costs nothing where all fail, and its row names the last', async () => {
    const { ask, row, double, otherDouble } = await startBilledChat(refuse(500, {}), { other: refuse(502, {}) });
    expect((await ask({ stream })).status).toBe(502);
    expect(await row()).toMatchObject({
      end: 'upstream_failed',
      costPicoUsd: 0n,
      upstream: 'other',
      upstreamFailures: 'double:server_error other:server_error',
    });
    expect([double.requests.length, otherDouble.requests.length]).toEqual([1, 1]);
  });

  it('leaves no row where all are full', async () => {
    const { ask, ledger, server } = await startBilledChat(refuse(429, {}), { other: refuse(429, {}) });
    expect((await ask({ stream })).status).toBe(503);
    await server.chat.close();
    expect(ledger.settlements).toHaveLength(0);
    expect(ledger.released).toHaveLength(1);
  });

  it('says who answered to a retry with the same idempotency key as well', async () => {
    const { ask, row, ledger } = await startBilledChat(refuse(500, {}), { other: answerHello });
    await (await ask({ stream }, { headers: { 'idempotency-key': 'once' } })).text();
    await row();
    expect(ledger.settlements[0]?.reply?.headers).toMatchObject({ 'x-umpire-upstream': 'other' });
  });

  it('asks nobody else where its client has left meanwhile', async () => {
    const failing = Promise.withResolvers<void>();
    const slowlyFailing: AnswerScript = async (response, request) => {
      await failing.promise;
      return refuse(500, {})(response, request);
    };
    const setup = { other: answerHello, upstream: { whenClientLeaves: 'drain' as const } };
    const { ask, row, double, otherDouble, server } = await startBilledChat(slowlyFailing, setup);
    const client = new AbortController();
    const asking = ask({ stream }, { signal: client.signal });
    await double.until(() => double.requests.length === 1);
    client.abort();
    await expect(asking).rejects.toThrow();
    await expect.poll(() => server.log.some((line) => line['status'] === 499)).toBe(true);
    failing.resolve();
    expect(await row()).toMatchObject({ end: 'client_left', costPicoUsd: 0n });
    expect(otherDouble.requests).toHaveLength(0);
  });

  it('has its answer within the time of its caller, half of which the first was silent', async () => {
    const { ask, row } = await startBilledChat(answerNothing, { other: answerHello });
    const reply = await ask({ stream }, { headers: { 'x-umpire-deadline-ms': '4000' } });
    expect(reply.status).toBe(200);
    expect(await reply.text()).toContain(' there!');
    expect(await row()).toMatchObject({ end: 'completed', upstream: 'other', upstreamFailures: 'double:timeout' });
  });

  it('is given up when the time of its caller is over', async () => {
    const { ask, row, otherDouble } = await startBilledChat(answerNothing, { other: () => undefined });
    const reply = await ask({ stream }, { headers: { 'x-umpire-deadline-ms': '2000' } });
    expect(reply.status).toBe(504);
    expect(await reply.json()).toMatchObject({ error: { code: 'upstream_timeout' } });
    expect(await row()).toMatchObject({ end: 'upstream_failed', costPicoUsd: 0n });
    expect(otherDouble.requests).toHaveLength(1);
  });
});

describe('a stream of several upstreams', () => {
  it('that breaks in the middle stays with the one that began it', async () => {
    const { ask, row, otherDouble } = await startBilledChat(cutAfter(HELLO_CHUNKS.slice(0, 2)), { other: answerHello });
    const text = await (await ask({ stream: true })).text();
    expect(text).toContain('"upstream_error"');
    expect(text).not.toContain('[DONE]');
    expect(await row()).toMatchObject({
      end: 'upstream_failed',
      costPicoUsd: 0n,
      upstream: 'double',
      upstreamFailures: 'double:broken_reply',
    });
    expect(otherDouble.requests).toHaveLength(0);
  });
});
