// Every way out of a chat call, by where it is taken: services/chat/, http/event-stream.ts,
// upstream/http-chat-upstream.ts. Whichever it is, there is one row, or none where the call was not taken on, and nothing
// is left running at the upstream.

import { describe, expect, it } from 'vitest';
import type { LeavingPolicy } from '../../src/upstream/chat-upstream.ts';
import { STANDING, storeIsDown } from '../ledger/scripted-ledger.ts';
import {
  answerHello,
  answerNothing,
  cutAfter,
  deltaChunk,
  event,
  HELLO_CHUNKS,
  refuse,
  replyJson,
  stallAfter,
  startStream,
  streamChunks,
  streamEndlessly,
  streamRaw,
} from '../upstream/upstream-answers.ts';
import type { AnswerScript } from '../upstream/upstream-double.ts';
import { timeouts } from '../upstream/upstream-fixture.ts';
import { cost, INPUT_ESTIMATE, startBilledChat } from './billed-chat.ts';

const FAILED = { isEstimated: false, costPicoUsd: 0n, usage: { inputTokens: 0, outputTokens: 0 } };
const STREAMED = [false, true];

describe('before the upstream is asked', () => {
  it.each<[string, object, number]>([
    ['a mistake in the request', { messages: 'none' }, 400],
    ['a model that does not exist', { model: 'nobody' }, 404],
    ['a model of another type', { model: 'kev' }, 400],
  ])('%s leaves nothing', async (_name, fields, status) => {
    const { ask, ledger, double } = await startBilledChat(answerHello);
    expect((await ask(fields)).status).toBe(status);
    expect(ledger.reservations).toEqual([]);
    expect(double.requests).toEqual([]);
  });

  it('a member given twice leaves nothing', async () => {
    const { ask, ledger, double } = await startBilledChat(answerHello);
    const reply = await ask({}, { body: '{"model":"llama","messages":[],"n":1,"n":2}' });
    expect(reply.status).toBe(400);
    expect(ledger.reservations).toEqual([]);
    expect(double.requests).toEqual([]);
  });

  it('a refusal of the ledger, or its failure, is the reply', async () => {
    const { ask, ledger, double } = await startBilledChat(answerHello);
    ledger.reserveScript.push({ type: 'refused', reason: 'budget', standing: STANDING, retryAfterMs: null });
    expect((await ask()).status).toBe(402);
    ledger.reserveScript.push(storeIsDown());
    expect((await ask({ stream: true })).status).toBe(503);
    expect(ledger.settlements).toEqual([]);
    expect(double.requests).toEqual([]);
  });

  it.each(STREAMED)('a client that leaves while it is let in costs nothing, streamed: %s', async (stream) => {
    const { ask, ledger, row, server, double } = await startBilledChat(answerHello, {
      upstream: { whenClientLeaves: 'drain' },
    });
    const reserving = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    ledger.reserveScript.push(async () => {
      reserving.resolve();
      await gone.promise;
      return { type: 'reserved', standing: STANDING };
    });
    server.app.server.once('connection', (socket) => socket.once('close', () => setImmediate(gone.resolve)));
    const client = new AbortController();
    const leaving = ask({ stream }, { signal: client.signal }).catch(() => 'left');
    await reserving.promise;
    client.abort();
    expect(await leaving).toBe('left');
    expect(await row()).toMatchObject({ ...FAILED, end: 'client_left', status: 499, errorCode: null, waitMs: null });
    expect(double.requests).toEqual([]);
  });
});

describe.each(STREAMED)('an upstream that fails before its head, streamed: %s', (stream) => {
  it.each<[string, AnswerScript, object]>([
    [
      'is broken',
      (response) => response.destroy(),
      { end: 'upstream_failed', status: 502, errorCode: 'upstream_error' },
    ],
    ['has a fault', refuse(500, {}), { end: 'upstream_failed', status: 502, errorCode: 'upstream_error' }],
    ['is late', answerNothing, { end: 'upstream_failed', status: 504, errorCode: 'upstream_timeout' }],
    [
      'refuses the request',
      refuse(400, { message: 'no' }),
      { end: 'failed', status: 400, errorCode: 'invalid_request' },
    ],
    [
      'finds the prompt too long',
      refuse(400, { code: 'context_length_exceeded' }),
      { end: 'failed', status: 400, errorCode: 'context_length_exceeded' },
    ],
  ])('because it %s leaves a row that costs nothing', async (_name, answer, outcome) => {
    const limits = answer === answerNothing ? { firstByteMs: 100, totalMs: 100 } : {};
    const { ask, row } = await startBilledChat(answer, { upstream: timeouts(limits) });
    const { status } = await ask({ stream });
    expect(await row()).toMatchObject({ ...FAILED, ...outcome });
    expect(outcome).toMatchObject({ status });
  });

  it('because it has no room leaves no row', async () => {
    const { ask, ledger, server } = await startBilledChat(refuse(429, { message: 'busy' }));
    expect((await ask({ stream })).status).toBe(503);
    await server.chat.close();
    expect(ledger.settlements).toEqual([]);
    expect(ledger.released).toEqual([ledger.reservations[0]?.id]);
  });

  it('because we give it no more at once leaves no row', async () => {
    const { ask, ledger, server, double } = await startBilledChat(stallAfter([]), {
      upstream: { maxConcurrentRequests: 1 },
    });
    const first = new AbortController();
    await ask({ stream: true }, { signal: first.signal });
    expect((await ask({ stream })).status).toBe(503);
    expect(ledger.released).toEqual([ledger.reservations[1]?.id]);
    first.abort();
    await server.chat.close();
    await double.until(() => double.openConnections === 0);
    expect(ledger.settlements).toHaveLength(1);
  });
});

describe('a whole answer', () => {
  it.each([
    ['is no JSON', replyJson('<html>')],
    ['is no completion', replyJson({ model: 'x' })],
    ['is an error', replyJson({ error: { message: 'private' } })],
    [
      'breaks off',
      (response) => response.writeHead(200, { 'content-length': '99' }).write('{', () => response.destroy()),
    ],
  ] satisfies [string, AnswerScript][])('that %s costs nothing', async (_name, answer) => {
    const { ask, row } = await startBilledChat(answer);
    expect((await ask()).status).toBe(502);
    expect(await row()).toMatchObject({ ...FAILED, end: 'upstream_failed', errorCode: 'upstream_error' });
  });
});

describe('a stream that has begun', () => {
  it.each([
    ['breaks off', cutAfter(HELLO_CHUNKS.slice(0, 2))],
    ['ends too early', streamRaw(event(HELLO_CHUNKS[1]))],
    ['says something that is no JSON', streamChunks([HELLO_CHUNKS[1], '{oops'])],
    ['reports an error', streamChunks([HELLO_CHUNKS[1], { error: { message: 'private' } }])],
    ['falls silent', stallAfter([HELLO_CHUNKS[1]])],
  ] satisfies [string, AnswerScript][])(
    'and %s costs nothing; the row is there before the client knows',
    async (_name, answer) => {
      const { ask, row, ledger } = await startBilledChat(answer, { upstream: timeouts({ idleMs: 100 }) });
      const reply = await ask({ stream: true });
      const text = await reply.text();
      expect(ledger.settlements).toHaveLength(1);
      expect(reply.status).toBe(200);
      expect(text).toContain('"error":');
      expect(text).not.toContain('[DONE]');
      expect(await row()).toMatchObject({ ...FAILED, end: 'upstream_failed' });
    },
  );

  it('and cannot be billed has an error at its end', async () => {
    const { ask, ledger } = await startBilledChat(answerHello);
    ledger.settleScript.push(...Array.from({ length: 10 }, storeIsDown));
    const text = await (await ask({ stream: true })).text();
    expect(text).toContain('"code":"store_unavailable"');
    expect(text).not.toContain('[DONE]');
  });

  it('and cannot be billed, whole, is refused', async () => {
    const { ask, ledger } = await startBilledChat(answerHello);
    ledger.settleScript.push({ type: 'missing' });
    expect((await ask()).status).toBe(503);
  });
});

interface Leaving {
  readonly name: string;
  readonly stream: boolean;
  /** What the upstream says before the client leaves; undefined: not even a head. */
  readonly said: readonly unknown[] | undefined;
  /** What it says once asked to go on. */
  readonly rest: string;
  /** `[input, output]` tokens that are billed under `estimate`. */
  readonly estimate: readonly [number, number];
}

const USAGE_AT_END = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3 } };
const WHOLE = JSON.stringify({ choices: [], usage: USAGE_AT_END.usage });
const REST = [...HELLO_CHUNKS.slice(2), USAGE_AT_END, '[DONE]'].map(event).join('');
const LEAVINGS: readonly Leaving[] = [
  {
    name: 'while a whole answer is waited for',
    stream: false,
    said: undefined,
    rest: WHOLE,
    estimate: [INPUT_ESTIMATE, 0],
  },
  { name: 'before the head', stream: true, said: undefined, rest: REST, estimate: [INPUT_ESTIMATE, 0] },
  { name: 'after the head', stream: true, said: [], rest: REST, estimate: [INPUT_ESTIMATE, 0] },
  { name: 'after a chunk', stream: true, said: [deltaChunk('Hello')], rest: REST, estimate: [INPUT_ESTIMATE, 2] },
  {
    name: 'after usage was told',
    stream: true,
    said: [deltaChunk('Hello'), USAGE_AT_END],
    rest: REST,
    estimate: [9, 3],
  },
];

describe.each<LeavingPolicy>(['estimate', 'drain', 'free'])(
  'a client that leaves, by the policy %s',
  (whenClientLeaves) => {
    it.each(LEAVINGS)('$name', async ({ stream, said, rest, estimate }) => {
      const goOn = Promise.withResolvers<() => void>();
      const { ask, row, double, server } = await startBilledChat(
        (response) => {
          if (said !== undefined) {
            startStream(response);
            for (const data of said) response.write(event(data));
          }
          goOn.resolve(() => {
            if (said === undefined)
              response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
            response.end(rest);
          });
        },
        { upstream: { whenClientLeaves } },
      );
      const left = Promise.withResolvers<void>();
      server.app.server.once('connection', (socket) => socket.once('close', () => setImmediate(left.resolve)));
      const client = new AbortController();
      const reading = ask({ stream }, { signal: client.signal }).then(async (reply) => {
        const reader = reply.body?.getReader();
        for (let seen = 0; seen < (said?.length ?? 0) && seen < 1; seen++) await reader?.read();
      });
      const finishUpstream = await goOn.promise;
      if (said !== undefined) await reading;
      client.abort();
      await reading.catch(() => 'left');
      await left.promise;
      if (whenClientLeaves === 'drain') finishUpstream();
      const [input, output] = whenClientLeaves === 'drain' ? [9, 3] : estimate;
      const isFree = whenClientLeaves === 'free';
      expect(await row()).toMatchObject({
        end: 'client_left',
        status: 499,
        errorCode: null,
        costPicoUsd: isFree ? 0n : cost(input, output),
        isEstimated: whenClientLeaves === 'estimate' && input === INPUT_ESTIMATE,
      });
      if (whenClientLeaves !== 'drain') await double.until(() => double.openConnections === 0);
    });

    it('or takes in nothing any more', async () => {
      const { ask, row } = await startBilledChat(streamEndlessly('x'.repeat(100_000)), {
        upstream: { whenClientLeaves, ...(whenClientLeaves === 'drain' ? timeouts({ streamTotalMs: 1500 }) : {}) },
        http: { writeTimeoutMs: 200 },
      });
      const reply = await ask({ stream: true });
      const outcome = await row();
      await reply.body?.cancel().catch(() => undefined);
      // Nobody can read this one to its end: its time runs out, and a failure costs nothing.
      if (whenClientLeaves === 'drain') expect(outcome).toMatchObject({ ...FAILED, end: 'upstream_failed' });
      else expect(outcome).toMatchObject({ end: 'client_left', isEstimated: whenClientLeaves === 'estimate' });
      expect(outcome.costPicoUsd > 0n).toBe(whenClientLeaves === 'estimate');
    });
  },
);
