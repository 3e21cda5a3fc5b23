// Chat as the unmodified `openai` package sees it: over a real port, in front of a real upstream.

import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import OpenAI, {
  APIError,
  APIUserAbortError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
} from 'openai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpOptions } from '../../src/http/server.ts';
import { HttpChatUpstream } from '../../src/upstream/http-chat-upstream.ts';
import type { ChatUpstreamOptions } from '../../src/upstream/upstream-options.ts';
import { KEV_KEY, KEY, startTestServer } from '../http/test-server.ts';
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
  UPSTREAM_MODEL,
  USAGE,
} from '../upstream/upstream-answers.ts';
import { type AnswerScript, UpstreamDouble } from '../upstream/upstream-double.ts';
import { chatUpstreamOptions } from '../upstream/upstream-fixture.ts';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Setup {
  readonly upstream?: Partial<ChatUpstreamOptions>;
  readonly http?: Partial<HttpOptions>;
}

async function start(answer: AnswerScript, { upstream: overrides = {}, http = {} }: Setup = {}) {
  const double = await UpstreamDouble.start(answer);
  closers.push(() => double.close());
  const upstream = new HttpChatUpstream(chatUpstreamOptions(double.baseUrl, overrides));
  const server = await startTestServer(http, [upstream]);
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  closers.push(() => server.app.close());
  const { port } = server.app.server.address() as AddressInfo;
  const baseURL = `http://127.0.0.1:${port}/ai/v1`;
  const client = new OpenAI({ baseURL, apiKey: KEY, maxRetries: 0 });
  return { double, client, server, baseURL };
}

const ASK = { model: 'llama', messages: [{ role: 'user' as const, content: 'Hi' }] };

async function collect(stream: AsyncIterable<ChatCompletionChunk>): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const received of stream) chunks.push(received);
  return chunks;
}

async function failureOf(promise: PromiseLike<unknown>): Promise<APIError> {
  const error = await promise.then(
    () => new Error('It did not fail.'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof APIError)) throw error;
  return error;
}

describe('chat with the openai package', () => {
  it('is tested with the version that is pinned', () => {
    const { version } = JSON.parse(readFileSync('node_modules/openai/package.json', 'utf8'));
    expect(version).toBe('7.57.0');
  });

  it('completes', async () => {
    const { client, double } = await start(answerHello);
    const { data, response } = await client.chat.completions.create(ASK).withResponse();
    expect(data).toMatchObject(completion({ model: 'llama' }));
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(double.lastRequest.json).toEqual({ ...ASK, model: UPSTREAM_MODEL });
  });

  it('streams, without usage unless it was asked for', async () => {
    const { client } = await start(answerHello);
    const plain = await collect(await client.chat.completions.create({ ...ASK, stream: true }));
    expect(plain.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello there!');
    expect(plain.every(({ model }) => model === 'llama')).toBe(true);
    expect(plain.some((received) => 'usage' in received)).toBe(false);

    const options = { stream_options: { include_usage: true } };
    const asked = await collect(await client.chat.completions.create({ ...ASK, stream: true, ...options }));
    expect(asked).toHaveLength(plain.length + 1);
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: USAGE });
  });

  it('gives a stream its head before the first chunk, and every chunk when it comes', async () => {
    const hold = Promise.withResolvers<() => void>();
    const { client } = await start((response) => {
      startStream(response);
      hold.resolve(() => response.end(HELLO_CHUNKS.map(event).join('') + event('[DONE]')));
    });
    const { data, response } = await client.chat.completions.create({ ...ASK, stream: true }).withResponse();
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    (await hold.promise)();
    expect(await collect(data)).toHaveLength(HELLO_CHUNKS.length);
  });

  it('passes tools, tool calls and unknown fields both ways', async () => {
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"a":1}' } }];
    const message = { role: 'assistant', content: null, tool_calls: calls, annotations: [], vendor_field: { x: 1 } };
    const { client, double } = await start((response, request) => {
      const delta = { tool_calls: [{ index: 0, ...calls[0] }] };
      const streamed = streamChunks([chunk({ choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] })]);
      const whole = replyJson(completion({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }));
      return (request.json.stream ? streamed : whole)(response, request);
    });
    const tools = [{ type: 'function' as const, function: { name: 'look_up', parameters: { type: 'object' } } }];
    const body = { ...ASK, tools, temperature: 0.1, logit_bias: { '50256': -100 }, vendor_option: [null] };
    const whole = await client.chat.completions.create(body);
    expect(whole.choices[0]?.message).toEqual(message);
    expect(double.lastRequest.json).toEqual({ ...body, model: UPSTREAM_MODEL });
    const chunks = await collect(await client.chat.completions.create({ ...body, stream: true }));
    expect(chunks[0]?.choices[0]?.delta.tool_calls).toEqual([{ index: 0, ...calls[0] }]);
  });

  it('counts reasoning into completion_tokens and lets it exceed max_tokens', async () => {
    const apart = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 112 };
    const reported = { ...apart, completion_tokens_details: { reasoning_tokens: 100 } };
    const { client, double } = await start(
      (response, request) =>
        (request.json.stream
          ? streamChunks([deltaChunk('x', 'stop'), chunk({ choices: [], usage: reported })])
          : replyJson(completion({ usage: reported })))(response, request),
      { upstream: { reasoning: { usage: 'auto', allowanceTokens: 5000, capField: 'max_completion_tokens' } } },
    );
    const ask = { ...ASK, max_tokens: 3 };
    expect((await client.chat.completions.create(ask)).usage).toEqual({ ...reported, completion_tokens: 103 });
    expect(double.lastRequest.json.max_completion_tokens).toBe(5003);
    const options = { stream: true as const, stream_options: { include_usage: true } };
    const chunks = await collect(await client.chat.completions.create({ ...ask, ...options }));
    expect(chunks.at(-1)?.usage).toEqual({ ...reported, completion_tokens: 103 });
  });

  it('is listed among the models', async () => {
    const { client } = await start(answerHello);
    const models = (await client.models.list()).data;
    expect(models.find(({ id }) => id === 'llama')).toMatchObject({ type: 'llm', owned_by: 'vendor' });
  });
});

describe('a client that leaves', () => {
  it.each<[string, unknown[]]>([
    ['during a stream', [HELLO_CHUNKS[1]]],
    ['before the first chunk of a stream', []],
  ])('%s ends the upstream connection', async (_name, chunks) => {
    const { client, double } = await start(stallAfter(chunks));
    const stream = await client.chat.completions.create({ ...ASK, stream: true });
    const reading = collect(stream);
    stream.controller.abort();
    await reading.catch((error: unknown) => expect(error).toBeInstanceOf(APIUserAbortError));
    await double.until(() => double.openConnections === 0);
  });

  it('while waiting for a whole completion, or for a head, ends the upstream connection', async () => {
    const { client, double } = await start(answerNothing);
    for (const stream of [false, true]) {
      const controller = new AbortController();
      const call = client.chat.completions.create({ ...ASK, stream }, { signal: controller.signal });
      const before = double.requests.length;
      const ending = failureOf(call as PromiseLike<unknown>);
      await double.until(() => double.requests.length > before);
      controller.abort();
      expect(await ending).toBeInstanceOf(APIUserAbortError);
      await double.until(() => double.openConnections === 0);
    }
  });

  it('one of many ends its own upstream connection and no other', async () => {
    const { client, double } = await start(stallAfter([HELLO_CHUNKS[1]]));
    const streams = await Promise.all(
      Array.from({ length: 8 }, () => client.chat.completions.create({ ...ASK, stream: true })),
    );
    expect(double.openConnections).toBe(8);
    for (const [index, stream] of streams.entries()) {
      stream.controller.abort();
      await double.until(() => double.openConnections === 7 - index);
    }
  });

  it('as every third of many does, somewhere in its stream, leaves nothing running', async () => {
    const words = Array.from({ length: 20 }, (_, index) => deltaChunk(`${index} `, index === 19 ? 'stop' : null));
    const { client, double } = await start(async (response) => {
      startStream(response);
      for (const word of words) {
        if (!response.writable) return;
        response.write(event(word));
        await nextTurn();
      }
      response.end(event('[DONE]'));
    });
    const one = async (index: number) => {
      const stream = await client.chat.completions.create({ ...ASK, stream: true });
      const stopAfter = index % 3 === 0 ? (index * 7) % 20 : words.length;
      let seen = 0;
      for await (const _chunk of stream) if (++seen > stopAfter) break;
      return seen === words.length || index % 3 === 0;
    };
    for (let batch = 0; batch < 10; batch++) {
      const ends = await Promise.all(Array.from({ length: 24 }, (_, index) => one(batch * 24 + index)));
      expect(ends).not.toContain(false);
    }
    await double.until(() => double.runningReplies === 0);
    expect(double.requests).toHaveLength(240);
  });

  it('is one that takes in nothing: it is disconnected, its upstream too', async () => {
    const { double, baseURL } = await start(streamEndlessly('x'.repeat(100_000)), { http: { writeTimeoutMs: 200 } });
    // A reader that is never pulled.
    const reply = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ASK, stream: true }),
    });
    expect(reply.status).toBe(200);
    await double.until(() => double.openConnections === 0);
    await expect(reply.text()).rejects.toThrow();
  });
});

describe('a server that stops', () => {
  it('finishes the streams it has begun, and closes at once after them', async () => {
    const hold = Promise.withResolvers<() => void>();
    const { client, server, double } = await start((response) => {
      startStream(response);
      response.write(event(HELLO_CHUNKS[1]));
      hold.resolve(() => response.end(HELLO_CHUNKS.map(event).join('') + event('[DONE]')));
    });
    const stream = await client.chat.completions.create({ ...ASK, stream: true });
    const closing = server.app.close();
    (await hold.promise)();
    expect(await collect(stream)).toHaveLength(HELLO_CHUNKS.length + 1);
    const startMs = performance.now();
    await closing;
    expect(performance.now() - startMs).toBeLessThan(2000);
    expect(double.runningReplies).toBe(0);
  });
});

describe('every error as the openai package sees it', () => {
  it.each<[string, AnswerScript, Setup, unknown, object]>([
    [
      'an upstream that is broken',
      refuse(500, { message: 'private' }),
      {},
      InternalServerError,
      { status: 502, code: 'upstream_error' },
    ],
    [
      'a bad key of ours',
      refuse(401, { message: 'private' }),
      {},
      InternalServerError,
      { status: 502, code: 'upstream_error' },
    ],
    ['no JSON', replyJson('<html>'), {}, InternalServerError, { status: 502, code: 'upstream_error' }],
    ['an upstream that is slow', answerNothing, slow(), InternalServerError, { status: 504, code: 'upstream_timeout' }],
    [
      'a limit of the upstream',
      refuse(429, {}, { 'retry-after': '7' }),
      {},
      InternalServerError,
      { status: 503, code: 'overloaded' },
    ],
    [
      'a mistake of the caller',
      refuse(422, { message: 'temperature must be at most 2', param: 'temperature' }),
      {},
      BadRequestError,
      { status: 400, code: 'invalid_request', param: 'temperature', message: '400 temperature must be at most 2' },
    ],
    [
      'too long a conversation',
      refuse(400, { message: 'Too long.', code: 'context_length_exceeded' }),
      {},
      BadRequestError,
      { status: 400, code: 'context_length_exceeded' },
    ],
  ])('%s', async (_name, answer, setup, type, expected) => {
    const { client } = await start(answer, setup);
    for (const stream of [false, true]) {
      const error = await failureOf(client.chat.completions.create({ ...ASK, stream }) as PromiseLike<unknown>);
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject(expected);
      expect(error.message).not.toContain('private');
    }
  });

  it('the time to come back is in both headers', async () => {
    const { client } = await start(refuse(429, {}, { 'retry-after': '7' }));
    const { headers } = await failureOf(client.chat.completions.create(ASK));
    expect([headers?.get('retry-after'), headers?.get('retry-after-ms')]).toEqual(['7', '7000']);
  });

  it('the package tries again by itself and gets its answer', async () => {
    const { client, double } = await start(refuse(429, {}, { 'retry-after-ms': '1' }));
    double.answer = (response, request) =>
      (double.requests.length === 1 ? refuse(429, {}, { 'retry-after-ms': '1' }) : answerHello)(response, request);
    const reply = await client.chat.completions.create(ASK, { maxRetries: 2 });
    expect(reply.model).toBe('llama');
    expect(double.requests).toHaveLength(2);
  });

  it.each<[string, AnswerScript, Setup, string]>([
    ['broken off', cutAfter(HELLO_CHUNKS.slice(0, 2)), {}, 'upstream_error'],
    [
      'with an error of the upstream',
      streamChunks([HELLO_CHUNKS[1], { error: { message: 'private' } }]),
      {},
      'upstream_error',
    ],
    ['with a broken chunk', streamChunks([HELLO_CHUNKS[1], '{']), {}, 'upstream_error'],
    ['fallen silent', stallAfter([HELLO_CHUNKS[1]]), slow(), 'upstream_timeout'],
    ['without a first byte', stallAfter([]), slow(), 'upstream_timeout'],
  ])('a stream %s ends with an error event', async (_name, answer, setup, code) => {
    const { client, server } = await start(answer, setup);
    const stream = await client.chat.completions.create({ ...ASK, stream: true });
    const error = await failureOf(collect(stream));
    expect(error).toMatchObject({ code, type: 'upstream_error' });
    expect(error.message).not.toContain('private');
    expect(JSON.stringify(server.log)).not.toContain('private');
  });

  it('after an error event the stream ends without [DONE]', async () => {
    const { client } = await start(cutAfter(HELLO_CHUNKS.slice(0, 2)));
    const reply = await client.chat.completions.create({ ...ASK, stream: true }).asResponse();
    const events = (await reply.text()).trim().split('\n\n');
    expect(events).toHaveLength(3);
    expect(JSON.parse(events[2]?.slice('data: '.length) ?? '')).toEqual({
      error: { message: expect.any(String), type: 'upstream_error', param: null, code: 'upstream_error' },
    });
  });

  it.each<[string, object, object]>([
    ['no model', { model: undefined }, { param: 'model', message: "400 The field 'model' must be a string." }],
    ['messages that are no array', { messages: 'Hi' }, { param: 'messages' }],
    ['no messages', { messages: undefined }, { param: 'messages' }],
    ['stream that is no boolean', { stream: 'yes' }, { param: 'stream' }],
    ['stream options that are no object', { stream_options: true }, { param: 'stream_options' }],
    [
      'include_usage that is no boolean',
      { stream_options: { include_usage: 1 } },
      { param: 'stream_options.include_usage' },
    ],
    ['a model of another type', { model: 'kev' }, { code: 'model_type_mismatch' }],
  ])('%s is a 400 that never reaches the upstream', async (_name, fields, expected) => {
    const { client, double } = await start(answerHello);
    const error = await failureOf(client.chat.completions.create({ ...ASK, ...fields } as typeof ASK));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: 'invalid_request', ...expected });
    expect(double.requests).toHaveLength(0);
  });

  it('unknown and forbidden models', async () => {
    const { client, double } = await start(answerHello);
    const unknown = await failureOf(client.chat.completions.create({ ...ASK, model: 'nobody' }));
    expect(unknown).toBeInstanceOf(NotFoundError);
    const other = client.withOptions({ apiKey: KEV_KEY });
    expect(await failureOf(other.chat.completions.create(ASK))).toBeInstanceOf(PermissionDeniedError);
    expect(double.requests).toHaveLength(0);
  });
});

describe('the body of a chat request', () => {
  it.each([
    ['big and exact numbers', '"seed":12345678901234567890,"temperature":1.0,"top_p":1e-7'],
    ['names that are dangerous elsewhere', '"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}}'],
    ['a field of ours twice in another object', '"metadata":{"model":"a","model":"b"}'],
    ['escapes and white space', '"user" : "\\ud800 \\u0041\\/" ,\n "x":[ ]'],
  ])('passes through: %s', async (_name, fields) => {
    const { double, baseURL } = await start(answerHello);
    const body = (model: string) => `{"model":"${model}","messages":[],${fields}}`;
    const reply = await postText(baseURL, body('llama'));
    expect(reply.status).toBe(200);
    expect(double.lastRequest.text.replace(/\s/g, '')).toBe(body(UPSTREAM_MODEL).replace(/\s/g, ''));
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it.each([
    ['a model twice', '{"model":"llama","messages":[],"model":"llama"}', 400],
    ['nothing', '', 400],
    ['no JSON', '{"model":', 400],
    ['no object', '[]', 400],
    ['more than the limit', JSON.stringify({ ...ASK, user: 'x'.repeat(9_000_000) }), 413],
  ])('is refused: %s', async (_name, text, status) => {
    const { double, baseURL } = await start(answerHello);
    const reply = await postText(baseURL, text);
    expect(reply.status).toBe(status);
    expect(await reply.json()).toHaveProperty('error.message');
    expect(double.requests).toHaveLength(0);
  });
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function slow(): Setup {
  const { timeouts } = chatUpstreamOptions('');
  return { upstream: { timeouts: { ...timeouts, totalMs: 100, firstByteMs: 100, idleMs: 100 } } };
}

function postText(baseURL: string, body: string): Promise<Response> {
  return fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body,
  });
}
