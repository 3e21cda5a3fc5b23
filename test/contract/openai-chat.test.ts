// Chat as the unmodified `openai` package sees it, when all goes well.

import { describe, expect, it } from 'vitest';
import {
  answerHello,
  chunk,
  completion,
  deltaChunk,
  event,
  HELLO_CHUNKS,
  replyJson,
  startStream,
  streamChunks,
  UPSTREAM_MODEL,
  USAGE,
} from '../upstream/upstream-answers.ts';
import { ASK, collect, postText, startChat } from './openai-chat-fixture.ts';

describe('chat with the openai package', () => {
  it('completes', async () => {
    const { client, double } = await startChat(answerHello);
    const { data, response } = await client.chat.completions.create(ASK).withResponse();
    expect(data).toMatchObject(completion({ model: 'llama' }));
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(double.lastRequest.json).toEqual({ ...ASK, model: UPSTREAM_MODEL });
  });

  it('streams, without usage unless it was asked for', async () => {
    const { client } = await startChat(answerHello);
    const plain = await collect(await client.chat.completions.create({ ...ASK, stream: true }));
    expect(plain.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello there!');
    expect(plain.every(({ model }) => model === 'llama')).toBe(true);
    expect(plain.some((received) => 'usage' in received)).toBe(false);

    const options = { stream_options: { include_usage: true } };
    const asked = await collect(await client.chat.completions.create({ ...ASK, stream: true, ...options }));
    expect(asked).toHaveLength(plain.length + 1);
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: USAGE });
  });

  it('always has usage where it was asked for, though the upstream tells none', async () => {
    const { client } = await startChat(streamChunks(HELLO_CHUNKS));
    const options = { stream: true as const, stream_options: { include_usage: true } };
    const last = (await collect(await client.chat.completions.create({ ...ASK, ...options }))).at(-1);
    expect(last?.usage?.prompt_tokens).toBeGreaterThan(0);
    expect(last?.usage?.completion_tokens).toBeGreaterThan(0);
    expect(last?.usage?.total_tokens).toBe((last?.usage?.prompt_tokens ?? 0) + (last?.usage?.completion_tokens ?? 0));
    expect(last).toMatchObject({ choices: [], 'x-umpire-usage': 'estimated' });
  });

  it('gives a stream its head before the first chunk, and every chunk when it comes', async () => {
    const hold = Promise.withResolvers<() => void>();
    const { client } = await startChat((response) => {
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
    const { client, double } = await startChat((response, request) => {
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
    const { client, double } = await startChat(
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
    const { client } = await startChat(answerHello);
    const models = (await client.models.list()).data;
    expect(models.find(({ id }) => id === 'llama')).toMatchObject({ type: 'llm', owned_by: 'vendor' });
  });
});

describe('the body of a chat request', () => {
  it.each([
    ['big and exact numbers', '"seed":12345678901234567890,"temperature":1.0,"top_p":1e-7'],
    ['names that are dangerous elsewhere', '"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}}'],
    ['a field of ours twice in another object', '"metadata":{"model":"a","model":"b"}'],
    ['escapes and white space', '"user" : "\\ud800 \\u0041\\/" ,\n "x":[ ]'],
  ])('passes through: %s', async (_name, fields) => {
    const { double, baseURL } = await startChat(answerHello);
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
    const { double, baseURL } = await startChat(answerHello);
    const reply = await postText(baseURL, text);
    expect(reply.status).toBe(status);
    expect(await reply.json()).toHaveProperty('error.message');
    expect(double.requests).toHaveLength(0);
  });
});
