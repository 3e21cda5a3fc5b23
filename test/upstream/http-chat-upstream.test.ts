import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import type { ChatRequest, ChatStream } from '../../src/upstream/chat-upstream.ts';
import { HttpChatUpstream } from '../../src/upstream/http-chat-upstream.ts';
import type { ChatUpstreamOptions } from '../../src/upstream/upstream-options.ts';
import {
  answerHello,
  answerNothing,
  chunk,
  completion,
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
  streamText,
  USAGE,
  USAGE_CHUNK,
} from './upstream-answers.ts';
import { type AnswerScript, UpstreamDouble } from './upstream-double.ts';
import { chatUpstreamOptions } from './upstream-fixture.ts';

const NEVER = new AbortController().signal;
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function start(answer: AnswerScript, overrides: Partial<ChatUpstreamOptions> = {}) {
  const double = await UpstreamDouble.start(answer);
  const upstream = new HttpChatUpstream(chatUpstreamOptions(double.baseUrl, overrides));
  closers.push(async () => {
    await double.close();
    await upstream.close();
  });
  return { double, upstream };
}

function ask(fields: object = {}, request: Partial<ChatRequest> = {}): ChatRequest {
  const bodyText = JSON.stringify({ model: 'llama', messages: [{ role: 'user', content: 'Hi' }], ...fields });
  return { modelId: 'llama', stream: false, includeUsage: false, bodyText, ...request };
}

function askStream(includeUsage = false): ChatRequest {
  return ask(
    { stream: true, ...(includeUsage ? { stream_options: { include_usage: true } } : {}) },
    {
      stream: true,
      includeUsage,
    },
  );
}

async function collect(stream: ChatStream): Promise<Record<string, unknown>[]> {
  const chunks: Record<string, unknown>[] = [];
  for await (const { json } of stream.chunks) chunks.push(JSON.parse(json));
  return chunks;
}

async function failureOf(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(
    () => new Error('It did not fail.'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) throw error;
  return error;
}

describe('a whole completion', () => {
  it('goes out under the upstream’s name and comes back under ours', async () => {
    const { double, upstream } = await start(answerHello);
    const { bodyText, usage } = await upstream.complete(ask(), NEVER);
    expect(JSON.parse(bodyText)).toEqual(completion({ model: 'llama' }));
    expect(usage).toEqual({ inputTokens: 9, outputTokens: 3, reasoningTokens: 0, cachedTokens: 0 });
    expect(double.lastRequest.path).toBe('/v1/chat/completions');
    expect(double.lastRequest.headers.authorization).toBe('Bearer upstream-secret');
    expect(double.lastRequest.json.model).toBe('vendor/llama-7b');
  });

  it('passes everything else through to the letter', async () => {
    const { double, upstream } = await start((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"model":"x","choices":[],"big":12345678901234567890,"one":1.0,"usage":null}');
    });
    const bodyText =
      '{"messages":[],"seed":12345678901234567890,"temperature":1.0,"__proto__":{"a":1},"model":"llama"}';
    const reply = await upstream.complete(ask({}, { bodyText }), NEVER);
    expect(double.lastRequest.text).toBe(bodyText.replace('"llama"', '"vendor/llama-7b"'));
    expect(reply.bodyText).toBe('{"model":"llama","choices":[],"big":12345678901234567890,"one":1.0,"usage":null}');
    expect(reply.usage).toBeUndefined();
  });

  it('reuses its connection', async () => {
    const { double, upstream } = await start(answerHello);
    for (let i = 0; i < 3; i++) {
      await upstream.complete(ask(), NEVER);
      await connectionIsFree();
      await collect(await upstream.stream(askStream(), NEVER));
      await connectionIsFree();
    }
    expect(double.connectionsSoFar).toBe(1);
  });

  it.each([
    ['is no JSON', replyJson('<html>')],
    ['is no object', replyJson([])],
    ['has no choices', replyJson({ model: 'x' })],
    ['is an error with status 200', replyJson({ error: { message: 'private', code: 'boom' } })],
    ['is cut', (response) => response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy())],
    ['is a redirect', replyJson('', 302, { location: '/elsewhere' })],
    ['never comes because the connection ends', (response) => response.destroy()],
    ['is a server error', refuse(500, { message: 'private' })],
    ['says that our key is bad', refuse(401, { message: 'Incorrect API key: upstream-secret' })],
    ['says that our account may not', refuse(403, { message: 'private' })],
    ['says that the model is unknown', refuse(404, { message: 'private', code: 'model_not_found' })],
    ['says that the model is unknown with 400', refuse(400, { message: 'private', code: 'model_not_found' })],
    ['says that our account is empty', refuse(429, { message: 'private', code: 'insufficient_quota' })],
  ] satisfies [string, AnswerScript][])('that %s is upstream_error and tells nothing', async (_name, answer) => {
    const { upstream } = await start(answer);
    for (const call of [upstream.complete(ask(), NEVER), upstream.stream(askStream(), NEVER).then(collect)]) {
      const error = await failureOf(call);
      expect(error.code).toBe('upstream_error');
      expect(error.message).not.toMatch(/private|secret/);
      expect(String(error.cause)).not.toMatch(/private|secret/);
    }
  });

  it('over its time is upstream_timeout, and its connection is closed', async () => {
    const { double, upstream } = await start(answerNothing, timeouts({ totalMs: 50 }));
    expect((await failureOf(upstream.complete(ask(), NEVER))).code).toBe('upstream_timeout');
    await double.until(() => double.openConnections === 0);
  });

  it('over its time in mid-body is upstream_timeout too', async () => {
    const { upstream } = await start(
      (response) => response.writeHead(200).write('{"choices":'),
      timeouts({ totalMs: 50 }),
    );
    expect((await failureOf(upstream.complete(ask(), NEVER))).code).toBe('upstream_timeout');
  });

  it('is cancelled when the client leaves', async () => {
    const { double, upstream } = await start(answerNothing);
    const client = new AbortController();
    const call = upstream.complete(ask(), client.signal);
    await double.until(() => double.requests.length === 1);
    client.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
    await double.until(() => double.openConnections === 0);
  });
});

describe('a refusal that is the caller’s mistake', () => {
  it.each([
    [400, 'invalid_request'],
    [422, 'invalid_request'],
    [413, 'request_too_large'],
  ])('with status %i is %s with the upstream’s message', async (status, code) => {
    const said = { message: 'messages[0].content is bad for vendor/llama-7b', param: 'messages[0].content' };
    const { upstream } = await start(refuse(status, said));
    for (const call of [upstream.complete(ask(), NEVER), upstream.stream(askStream(), NEVER)]) {
      const error = await failureOf(call);
      expect(error).toMatchObject({
        code,
        message: 'messages[0].content is bad for llama',
        param: 'messages[0].content',
        quotesCaller: true,
      });
    }
  });

  it.each([
    [{ error: { message: 'Too long.', code: 'context_length_exceeded' } }, 'context_length_exceeded', 'Too long.'],
    [
      { error: { message: 'the maximum context length is 8' } },
      'context_length_exceeded',
      'the maximum context length is 8',
    ],
    [{ object: 'error', message: 'Flat.' }, 'invalid_request', 'Flat.'],
    [{ error: 'Text.' }, 'invalid_request', 'Text.'],
    [{ detail: 'Detail.' }, 'invalid_request', 'Detail.'],
    [{ detail: [{ loc: ['body'], msg: 'Field.', input: 'private' }] }, 'invalid_request', 'Field.'],
    ['no JSON at all', 'invalid_request', 'The upstream refused the request as invalid.'],
  ])('is read out of %j', async (body, code, message) => {
    const { upstream } = await start(replyJson(body, 400));
    expect(await failureOf(upstream.complete(ask(), NEVER))).toMatchObject({ code, message });
  });

  it('never repeats our key', async () => {
    const { upstream } = await start(refuse(400, { message: 'You sent upstream-secret\nto us' }));
    expect((await failureOf(upstream.complete(ask(), NEVER))).message).toBe('You sent … to us');
  });
});

describe('a limit of the upstream', () => {
  it.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
    [{}, 1000],
  ])('is overloaded, with the time of %j', async (headers, retryAfterMs) => {
    const { upstream } = await start(refuse(429, { message: 'Slow down' }, headers));
    expect(await failureOf(upstream.complete(ask(), NEVER))).toMatchObject({ code: 'overloaded', retryAfterMs });
  });

  it('that says when to come back after a 503 is passed on', async () => {
    const { upstream } = await start(refuse(503, {}, { 'retry-after': '3' }));
    expect(await failureOf(upstream.complete(ask(), NEVER))).toMatchObject({
      code: 'upstream_error',
      retryAfterMs: 3000,
    });
  });

  it('of our own refuses more requests at once than are allowed', async () => {
    const { double, upstream } = await start(answerNothing, { maxConcurrentRequests: 2 });
    const client = new AbortController();
    const calls = [upstream.complete(ask(), client.signal), upstream.stream(askStream(), client.signal)];
    const ends = Promise.allSettled(calls);
    await double.until(() => double.requests.length === 2);
    expect((await failureOf(upstream.complete(ask(), NEVER))).code).toBe('overloaded');
    client.abort(new Error('left'));
    await ends;
    double.answer = answerHello;
    await upstream.complete(ask(), NEVER);
  });
});

describe('a stream', () => {
  it('asks for usage in any case and hides it from a client that did not ask', async () => {
    const { double, upstream } = await start(streamChunks());
    const stream = await upstream.stream(askStream(), NEVER);
    expect(await collect(stream)).toEqual(HELLO_CHUNKS.map((hello) => ({ ...hello, model: 'llama' })));
    expect(stream.usage()).toMatchObject({ inputTokens: 9, outputTokens: 3 });
    expect(double.lastRequest.json.stream_options).toEqual({ include_usage: true });
  });

  it('ends with usage for a client that asked', async () => {
    const { upstream } = await start(streamChunks());
    const chunks = await collect(await upstream.stream(askStream(true), NEVER));
    expect(chunks.at(-1)).toEqual({ ...USAGE_CHUNK, model: 'llama' });
  });

  it('ends with usage even where the upstream told it earlier', async () => {
    const early = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE });
    const { upstream } = await start(streamChunks([early, chunk({ choices: [] })]));
    const chunks = await collect(await upstream.stream(askStream(true), NEVER));
    expect(chunks.at(-1)).toEqual(chunk({ model: 'llama', choices: [], usage: USAGE }));
  });

  it('keeps the client’s other stream options, and strips usage out of chunks that say more', async () => {
    const last = chunk({ choices: [{ index: 0, delta: { content: '!' }, finish_reason: 'stop' }], usage: USAGE });
    const { double, upstream } = await start(streamChunks([chunk({ choices: [], usage: null }), last]));
    const request = ask(
      { stream: true, stream_options: { include_usage: false, include_obfuscation: false } },
      { stream: true },
    );
    const chunks = await collect(await upstream.stream(request, NEVER));
    expect(double.lastRequest.json.stream_options).toEqual({ include_usage: true, include_obfuscation: false });
    expect(chunks).toHaveLength(2);
    for (const sent of chunks) expect(sent).not.toHaveProperty('usage');
  });

  it('arrives whole however its bytes are cut', async () => {
    const text = streamText([...HELLO_CHUNKS, deltaChunk('Grüße 🎉 \u2028 end'), USAGE_CHUNK]).replaceAll('\n', '\r\n');
    const bytes = Buffer.from(`: comment\r\n\r\n${text}`);
    const { upstream } = await start(async (response) => {
      startStream(response);
      for (const byte of bytes) {
        await new Promise<void>((resolve) => response.write(Buffer.of(byte), () => resolve()));
      }
      response.end();
    });
    const chunks = await collect(await upstream.stream(askStream(), NEVER));
    expect(chunks.at(-1)).toEqual({ ...deltaChunk('Grüße 🎉 \u2028 end'), model: 'llama' });
    expect(chunks).toHaveLength(HELLO_CHUNKS.length + 1);
  });

  it('takes events of several lines and of any size up to a bound', async () => {
    const long = 'x'.repeat(1_000_000);
    const lines = 'data: {"choices":[],\ndata: "a":1}\n\n';
    const { upstream } = await start(streamRaw(lines + event(deltaChunk(long, 'stop'))));
    const chunks = await collect(await upstream.stream(askStream(), NEVER));
    expect(chunks).toEqual([
      { choices: [], a: 1, model: 'llama' },
      { ...deltaChunk(long, 'stop'), model: 'llama' },
    ]);
  });

  it('with an event over the bound is upstream_error', async () => {
    const piece = 'x'.repeat(1_000_000);
    const { double, upstream } = await start(async (response) => {
      startStream(response);
      response.write('data: ');
      while (response.writable) await new Promise((resolve) => response.write(piece, resolve));
    });
    const error = await failureOf(upstream.stream(askStream(), NEVER).then(collect));
    expect(error).toMatchObject({ code: 'upstream_error', message: 'The upstream sent an event that is too long.' });
    await double.until(() => double.openConnections === 0);
  });

  it('is handed over at once, before its first chunk', async () => {
    const { double, upstream } = await start(stallAfter([]));
    const client = new AbortController();
    const stream = await upstream.stream(askStream(), client.signal);
    client.abort(new Error('left'));
    await expect(collect(stream)).rejects.toThrow('left');
    await double.until(() => double.openConnections === 0);
  });

  it('without [DONE] is complete if its last choice was', async () => {
    const { upstream } = await start(streamRaw(HELLO_CHUNKS.map(event).join('')));
    expect(await collect(await upstream.stream(askStream(), NEVER))).toHaveLength(HELLO_CHUNKS.length);
  });

  it.each([
    ['broken in mid-stream', cutAfter(HELLO_CHUNKS.slice(0, 2))],
    ['ended in mid-answer', streamRaw(event(HELLO_CHUNKS[1]))],
    ['with a chunk that is no JSON', streamChunks([...HELLO_CHUNKS.slice(0, 2), '{oops'])],
    ['with an error in it', streamChunks([...HELLO_CHUNKS.slice(0, 2), { error: { message: 'private' } }])],
    ['with an error event', streamRaw(`${event(HELLO_CHUNKS[1])}event: error\n${event('private')}`)],
  ] satisfies [string, AnswerScript][])('%s gives what came and then upstream_error', async (_name, answer) => {
    const { upstream } = await start(answer);
    const stream = await upstream.stream(askStream(), NEVER);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { json } of stream.chunks) seen.push(json);
    })();
    const error = await failureOf(reading);
    expect(error.code).toBe('upstream_error');
    expect(error.message).not.toContain('private');
    expect(seen.length).toBeGreaterThan(0);
  });

  it('that is no stream is upstream_error', async () => {
    const { upstream } = await start(replyJson(completion()));
    expect((await failureOf(upstream.stream(askStream(), NEVER))).code).toBe('upstream_error');
  });

  it('whose head does not come is upstream_timeout before anything is handed over', async () => {
    const { double, upstream } = await start(answerNothing, timeouts({ firstByteMs: 50 }));
    expect((await failureOf(upstream.stream(askStream(), NEVER))).code).toBe('upstream_timeout');
    await double.until(() => double.openConnections === 0);
  });

  it('whose first byte does not come is upstream_timeout', async () => {
    const { double, upstream } = await start(stallAfter([]), timeouts({ firstByteMs: 200 }));
    const stream = await upstream.stream(askStream(), NEVER);
    expect((await failureOf(collect(stream))).code).toBe('upstream_timeout');
    await double.until(() => double.openConnections === 0);
  });

  it('that falls silent is upstream_timeout', async () => {
    const { double, upstream } = await start(stallAfter([HELLO_CHUNKS[1]]), timeouts({ idleMs: 50 }));
    expect((await failureOf(upstream.stream(askStream(), NEVER).then(collect))).message).toMatch(/fell silent/);
    await double.until(() => double.openConnections === 0);
  });

  it('that never ends is upstream_timeout', async () => {
    const { double, upstream } = await start(streamEndlessly('x'), timeouts({ streamTotalMs: 300 }));
    expect((await failureOf(upstream.stream(askStream(), NEVER).then(collect))).message).toMatch(/whole request/);
    await double.until(() => double.openConnections === 0);
  });

  it('is read no faster than it is taken, and a slow client is not the upstream’s silence', async () => {
    let written = 0;
    const script = streamEndlessly('x'.repeat(10_000), (bytes) => {
      written = bytes;
    });
    const { double, upstream } = await start(script, timeouts({ idleMs: 100 }));
    const client = new AbortController();
    const stream = await upstream.stream(askStream(), client.signal);
    const chunks = stream.chunks[Symbol.asyncIterator]();
    await chunks.next();
    // The client dawdles for longer than the idle limit: the writer must come to rest, and nothing must time out.
    await stillness(() => written, 300);
    expect(written).toBeLessThan(20_000_000);
    expect((await chunks.next()).done).toBe(false);
    await chunks.return?.();
    await double.until(() => double.openConnections === 0);
  });

  it('is cancelled when its reader leaves the loop', async () => {
    const { double, upstream } = await start(stallAfter([HELLO_CHUNKS[1]]));
    const stream = await upstream.stream(askStream(), NEVER);
    for await (const _chunk of stream.chunks) break;
    await double.until(() => double.openConnections === 0);
  });
});

describe('a connection', () => {
  it('that cannot be made is upstream_error', async () => {
    const upstream = new HttpChatUpstream(chatUpstreamOptions(`http://127.0.0.1:${await freePort()}/v1`));
    closers.push(() => upstream.close());
    const error = await failureOf(upstream.complete(ask(), NEVER));
    expect(error.code).toBe('upstream_error');
    expect(error.message).not.toMatch(/127|\d{4}/);
  });

  it('kept alive that the upstream has reset meanwhile is replaced once, unseen', async () => {
    let resets = 0;
    const { double, upstream } = await start(answerHello);
    await upstream.complete(ask(), NEVER);
    await connectionIsFree();
    double.answer = (response, request) => {
      if (resets++ === 0) response.socket?.resetAndDestroy();
      else answerHello(response, request);
    };
    await upstream.complete(ask(), NEVER);
    expect(resets).toBe(2);
    expect(double.connectionsSoFar).toBe(2);
  });

  it('that is new and reset is not tried again', async () => {
    const { double, upstream } = await start((response) => response.socket?.resetAndDestroy());
    expect((await failureOf(upstream.complete(ask(), NEVER))).code).toBe('upstream_error');
    expect(double.requests).toHaveLength(1);
  });

  it('reset after the answer has begun is not tried again', async () => {
    const { double, upstream } = await start(answerHello);
    await upstream.complete(ask(), NEVER);
    await connectionIsFree();
    double.answer = (response) => response.socket?.write('HTTP/1.1 2', () => response.socket?.resetAndDestroy());
    expect((await failureOf(upstream.complete(ask(), NEVER))).code).toBe('upstream_error');
    expect(double.requests).toHaveLength(2);
  });
});

function timeouts(changes: Partial<ChatUpstreamOptions['timeouts']>): Partial<ChatUpstreamOptions> {
  return { timeouts: { ...chatUpstreamOptions('').timeouts, ...changes } };
}

/** The pool takes a connection back a few turns after the end of its reply. */
async function connectionIsFree(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Resolves when the value has not changed for that long. */
async function stillness(read: () => number, forMs: number): Promise<void> {
  let last = Number.NaN;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (read() === last) {
        clearInterval(timer);
        resolve();
      }
      last = read();
    }, forMs);
  });
}
