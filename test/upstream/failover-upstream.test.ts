// One model at several upstreams, each a real HTTP server: who is asked after whom, when it goes on and when it does not.

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FailedUpstream, FailureReason } from '../../src/domain/errors.ts';
import type { CallWatcher } from '../../src/upstream/chat-upstream.ts';
import { CircuitBreaker } from '../../src/upstream/circuit-breaker.ts';
import { type FailoverMember, FailoverUpstream } from '../../src/upstream/failover-upstream.ts';
import { HttpChatUpstream } from '../../src/upstream/http-chat-upstream.ts';
import type { ChatUpstreamOptions } from '../../src/upstream/upstream-options.ts';
import { turns } from '../waiting/until.ts';
import {
  answerHello,
  answerNothing,
  completion,
  cutAfter,
  deltaChunk,
  event,
  HELLO_CHUNKS,
  refuse,
  replyJson,
  startStream,
  streamRaw,
} from './upstream-answers.ts';
import { type AnswerScript, UpstreamDouble } from './upstream-double.ts';
import { ask, askStream, chatUpstreamOptions, collect, failureOf, STAYS, timeouts } from './upstream-fixture.ts';

interface Place {
  readonly answer: AnswerScript | 'not there';
  readonly options?: Partial<ChatUpstreamOptions>;
}

interface StartedChain {
  readonly chain: FailoverUpstream;
  /** By their names: `a`, `b`, … */
  readonly doubles: readonly UpstreamDouble[];
  /** Who was asked, who passed a call on. */
  readonly told: string[];
  /** Why they did. */
  readonly reasons: readonly string[];
  /** What the call's own watcher was told. */
  readonly failed: readonly FailedUpstream[];
  readonly watcher: { -readonly [name in keyof CallWatcher]: CallWatcher[name] };
  readonly breakers: readonly CircuitBreaker[];
  pass(ms: number): void;
}

const FAILURES = 2;
const PAUSE_MS = 1000;

async function startChain(places: readonly (AnswerScript | Place)[], random?: () => number): Promise<StartedChain> {
  let nowMs = 0;
  const told: string[] = [];
  const reasons: string[] = [];
  const failed: FailedUpstream[] = [];
  const doubles: UpstreamDouble[] = [];
  const members: FailoverMember[] = [];
  for (const [index, given] of places.entries()) {
    const { answer, options = {} } = typeof given === 'function' ? { answer: given } : given;
    const name = String.fromCharCode('a'.charCodeAt(0) + index);
    const double = await UpstreamDouble.start(answer === 'not there' ? answerNothing : answer);
    if (answer === 'not there') await double.close();
    doubles.push(double);
    const all = chatUpstreamOptions(answer === 'not there' ? 'http://127.0.0.1:1/v1' : double.baseUrl, {
      name,
      ...options,
    });
    members.push({
      upstream: new HttpChatUpstream(all),
      weight: all.weight,
      breaker: new CircuitBreaker({ failures: FAILURES, pauseMs: PAUSE_MS, nowMs: () => nowMs }),
      totalMs: all.timeouts.totalMs,
      streamTotalMs: all.timeouts.streamTotalMs,
      firstByteMs: all.timeouts.firstByteMs,
      wholeFirstByteMs: all.timeouts.wholeFirstByteMs,
      onPassedOn: (reason) => {
        told.push(`${name} passed on`);
        reasons.push(reason);
      },
    });
    onTestFinished(() => (answer === 'not there' ? undefined : double.close()));
  }
  const chain = new FailoverUpstream({ members, ...(random === undefined ? {} : { random }) });
  onTestFinished(() => chain.close());
  const watcher: CallWatcher = {
    onAsked: ({ name }) => {
      told.push(name);
      return undefined;
    },
    onSent: () => undefined,
    onBytes: () => undefined,
    onFailed: ({ upstream }) => {
      if (upstream !== undefined) failed.push(upstream);
    },
  };
  const breakers = members.map(({ breaker }) => breaker);
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { chain, doubles, told, reasons, failed, watcher, breakers, pass };
}

/** From now on no clock of a call runs by itself. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

async function run({ chain, watcher }: StartedChain, streamed: boolean): Promise<string> {
  if (!streamed) return (await chain.complete(ask(), STAYS, watcher)).bodyText;
  return JSON.stringify(await collect(await chain.stream(askStream(), STAYS, watcher)));
}

describe.each([false, true])('a call to several upstreams, streamed: %s', (streamed) => {
  it.each<[string, FailureReason, AnswerScript | Place]>([
    ['cannot be reached', 'connect', { answer: 'not there' }],
    ['has no room', 'rate_limited', refuse(429, {})],
    ['fails', 'server_error', refuse(500, {})],
    ['ran out of time', 'timeout', refuse(504, {})],
    ['refuses our key', 'refused', refuse(401, {})],
    ['does not have the model', 'refused', refuse(404, { code: 'model_not_found' })],
    ['breaks off at once', 'broken_reply', (response) => response.destroy()],
    ['answers 200 with an error inside', 'error_reply', replyJson({ error: { message: 'no', code: 'server_error' } })],
    ['answers with something else', 'broken_reply', replyJson('<html>')],
    ['has as many requests as it may', 'busy', { answer: answerHello, options: { maxConcurrentRequests: 0 } }],
  ])('goes to the next where the first %s, and says why: %s', async (_what, reason, first) => {
    const started = await startChain([first, answerHello]);
    expect(await run(started, streamed)).toContain(streamed ? ' there!' : 'Hello there!');
    expect(started.told).toEqual(['a', 'a passed on', 'b']);
    expect(started.reasons).toEqual([reason]);
    expect(started.failed).toEqual([{ name: 'a', modelId: 'llama', reason }]);
    expect(started.doubles[1]?.requests).toHaveLength(1);
  });

  it('goes to nobody else where the caller is at fault', async () => {
    const started = await startChain([refuse(400, { message: 'No.' }), answerHello]);
    await expect(run(started, streamed)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(started.told).toEqual(['a']);
    expect(started.breakers[0]?.isOpen).toBe(false);
  });

  it('goes to nobody else where the caller has left, and holds nothing against the upstream', async () => {
    const started = await startChain([answerNothing, answerHello]);
    for (let time = 0; time < FAILURES; time++) {
      const client = new AbortController();
      const call = streamed
        ? started.chain.stream(askStream(), client.signal, started.watcher)
        : started.chain.complete(ask(), client.signal, started.watcher);
      await started.doubles[0]?.until(() => started.doubles[0]?.requests.length === time + 1);
      client.abort(new Error('left'));
      await expect(call).rejects.toThrow('left');
    }
    expect(started.told).toEqual(['a', 'a']);
    expect(started.breakers[0]?.isOpen).toBe(false);
  });

  it('that all refuse fails as the last one did', async () => {
    const started = await startChain([refuse(500, {}), refuse(429, {}, { 'retry-after': '7' })]);
    const error = await failureOf(run(started, streamed));
    expect(error).toMatchObject({ code: 'overloaded', retryAfterMs: 7000, upstream: { name: 'b', modelId: 'llama' } });
    expect(started.told).toEqual(['a', 'a passed on', 'b']);
  });

  it('sends the whole body again, whatever its length', async () => {
    const user = 'x'.repeat(300_000);
    const { chain, doubles, watcher } = await startChain([refuse(503, {}), answerHello]);
    let letGo = 0;
    const request = streamed ? askStream() : ask({ user });
    Object.assign(request, { letGo: () => letGo++ });
    if (streamed) await collect(await chain.stream(request, STAYS, watcher));
    else await chain.complete(request, STAYS, watcher);
    expect(doubles[1]?.lastRequest.text).toBe(doubles[0]?.lastRequest.text);
    if (!streamed) expect(doubles[1]?.lastRequest.json.user).toBe(user);
    expect(letGo).toBeGreaterThan(0);
  });

  it('leaves out who failed again and again, until one call has tried it', async () => {
    const started = await startChain([refuse(500, {}), answerHello]);
    for (let time = 0; time < FAILURES; time++) await run(started, streamed);
    started.told.length = 0;
    await run(started, streamed);
    expect(started.told).toEqual(['b']);
    started.pass(PAUSE_MS);
    await run(started, streamed);
    expect(started.told).toEqual(['b', 'a', 'a passed on', 'b']);
    started.pass(PAUSE_MS);
    const [first] = started.doubles;
    if (first !== undefined) first.answer = answerHello;
    started.told.length = 0;
    await run(started, streamed);
    await run(started, streamed);
    expect(started.told).toEqual(['a', 'a']);
    expect(started.breakers[0]?.isOpen).toBe(false);
  });

  it('asks those that are left out where there is nobody else', async () => {
    const started = await startChain([refuse(500, {}), refuse(500, {})]);
    for (let time = 0; time < FAILURES; time++) await failureOf(run(started, streamed));
    expect(started.breakers.map(({ isOpen }) => isOpen)).toEqual([true, true]);
    for (const double of started.doubles) double.answer = answerHello;
    expect(await run(started, streamed)).toContain(' there!');
  });

  it('is drawn by weight', async () => {
    const weighted = (weight: number) => ({ answer: answerHello, options: { weight } });
    const shares = [0, 0.5, 0.85, 0.99];
    const started = await startChain([weighted(8), weighted(2)], () => shares.shift() ?? 0);
    // Each call draws for both places.
    for (let time = 0; time < 2; time++) await run(started, streamed);
    expect(started.told).toEqual(['a', 'b']);
  });
});

describe('a stream', () => {
  it('has begun with its first chunk as long as there is somebody else', async () => {
    const error = { error: { message: 'The model broke.', type: 'server_error' } };
    const started = await startChain([streamRaw(event(error)), answerHello]);
    expect(await run(started, true)).toContain(' there!');
    expect(started.told).toEqual(['a', 'a passed on', 'b']);
  });

  it('goes to the next where no first byte comes in time', async () => {
    const slow = { answer: answerNothing, options: timeouts({ firstByteMs: 100 }) };
    const mute: Place = {
      answer: (response) => {
        startStream(response);
      },
      options: timeouts({ firstByteMs: 100 }),
    };
    const started = await startChain([slow, mute, answerHello]);
    expect(await run(started, true)).toContain(' there!');
    expect(started.told).toEqual(['a', 'a passed on', 'b', 'b passed on', 'c']);
  });

  it('never changes in the middle, and what breaks there counts as a failure', async () => {
    const started = await startChain([cutAfter(HELLO_CHUNKS.slice(0, 2)), answerHello]);
    for (let time = 0; time < FAILURES; time++) {
      const stream = await started.chain.stream(askStream(), STAYS, started.watcher);
      expect(await failureOf(collect(stream))).toMatchObject({ code: 'upstream_error' });
    }
    expect(started.told).toEqual(['a', 'a']);
    expect(started.breakers[0]?.isOpen).toBe(true);
    expect(started.doubles[1]?.requests).toHaveLength(0);
  });

  it('of the last one has begun with its head', async () => {
    const hold = Promise.withResolvers<() => void>();
    const started = await startChain([
      refuse(500, {}),
      (response) => {
        startStream(response);
        hold.resolve(() => response.end(event(deltaChunk('late', 'stop')) + event('[DONE]')));
      },
    ]);
    const stream = await started.chain.stream(askStream(), STAYS, started.watcher);
    (await hold.promise)();
    expect(await collect(stream)).toHaveLength(1);
  });

  it('that its reader leaves cuts the upstream, and lets the breaker of one that was tried close', async () => {
    const started = await startChain([refuse(500, {}), answerHello]);
    for (let time = 0; time < FAILURES; time++) await run(started, true);
    started.pass(PAUSE_MS);
    const [first] = started.doubles;
    if (first === undefined) throw new Error('no double');
    first.answer = (response) => {
      startStream(response);
      response.write(HELLO_CHUNKS.map(event).join(''));
    };
    const stream = await started.chain.stream(askStream(), STAYS, started.watcher);
    for await (const _chunk of stream.chunks) break;
    await first.until(() => first.runningReplies === 0);
    expect(started.breakers[0]?.isOpen).toBe(false);
  });
});

describe('the time of a call', () => {
  it('is that of the most patient upstream, over all that are asked', async () => {
    const slow = { answer: answerNothing, options: timeouts({ totalMs: 150 }) };
    const started = await startChain([slow, slow]);
    const error = await failureOf(run(started, false));
    expect(error).toMatchObject({ code: 'upstream_timeout' });
    expect(started.told).toEqual(['a', 'a passed on', 'b']);
  });

  it.each<[string, AnswerScript]>([
    ['an upstream that says nothing', answerNothing],
    ['one that sends a head and no body', (response) => response.writeHead(200).flushHeaders()],
  ])('of a whole answer is not eaten by %s: it may have half of what is left', async (_what, silent) => {
    const total = timeouts({ totalMs: 60_000 });
    const started = await startChain([
      { answer: silent, options: total },
      { answer: answerHello, options: total },
    ]);
    const [first] = started.doubles;
    holdTimers();
    const answer = run(started, false);
    await first?.until(() => first.requests.length === 1);
    vi.advanceTimersByTime(29_000);
    expect(started.told).toEqual(['a']);
    vi.advanceTimersByTime(2000);
    expect(await answer).toContain('Hello there!');
    expect(started.told).toEqual(['a', 'a passed on', 'b']);
    expect(started.reasons).toEqual(['timeout']);
  });

  it('of a whole answer may be shorter until its first byte, at an upstream with a limit of its own', async () => {
    const impatient = { answer: answerNothing, options: timeouts({ wholeFirstByteMs: 100 }) };
    const started = await startChain([impatient, impatient, answerHello]);
    expect(await run(started, false)).toContain('Hello there!');
    expect(started.reasons).toEqual(['timeout', 'timeout']);
  });

  it('of a whole answer has no such limit any more once the first byte has come', async () => {
    const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: AnswerScript = async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      // What keeps a connection alive while a model thinks.
      response.write('\n');
      await finish.promise;
      response.end(JSON.stringify(completion()));
    };
    const started = await startChain([{ answer: slow, options: timeouts({ wholeFirstByteMs: 5000 }) }, answerHello]);
    started.watcher.onBytes = () => begun.resolve();
    holdTimers();
    const answer = run(started, false);
    await begun.promise;
    await turns(10);
    vi.advanceTimersByTime(10_000);
    finish.resolve();
    expect(await answer).toContain('Hello there!');
    expect(started.told).toEqual(['a']);
  });

  it('of a whole answer has no such limit where nobody else is left to ask', async () => {
    const finish = Promise.withResolvers<void>();
    const slow: AnswerScript = async (response, request) => {
      await finish.promise;
      return answerHello(response, request);
    };
    const options = timeouts({ wholeFirstByteMs: 5000 });
    const started = await startChain([refuse(500, {}), { answer: slow, options }]);
    const [, last] = started.doubles;
    holdTimers();
    const answer = run(started, false);
    await last?.until(() => last.requests.length === 1);
    vi.advanceTimersByTime(10_000);
    finish.resolve();
    expect(await answer).toContain('Hello there!');
  });

  it.each([false, true])(
    'in a hurry goes on after half of it, and holds that against nobody, streamed: %s',
    async (streamed) => {
      const started = await startChain([answerNothing, answerHello]);
      for (let time = 0; time < FAILURES; time++) {
        started.watcher.endMs = performance.now() + 400;
        expect(await run(started, streamed)).toContain(' there!');
      }
      expect(started.reasons).toEqual(['timeout', 'timeout']);
      expect(started.breakers[0]?.isOpen).toBe(false);
    },
  );

  it('that is longer than the upstream may be silent changes nothing', async () => {
    const impatient = { answer: answerNothing, options: timeouts({ wholeFirstByteMs: 100 }) };
    const started = await startChain([impatient, answerHello]);
    for (let time = 0; time < FAILURES; time++) {
      started.watcher.endMs = performance.now() + 60_000;
      expect(await run(started, false)).toContain('Hello there!');
    }
    expect(started.breakers[0]?.isOpen).toBe(true);
  });

  it('leaves the next one what the first has not taken', async () => {
    const slow = { answer: answerNothing, options: timeouts({ totalMs: 100 }) };
    const started = await startChain([slow, answerHello]);
    expect(await run(started, false)).toContain('Hello there!');
    expect(started.told).toEqual(['a', 'a passed on', 'b']);
  });
});
