// Every failure of chat as the unmodified `openai` package sees it.

import { BadRequestError, InternalServerError, NotFoundError, PermissionDeniedError } from 'openai';
import { describe, expect, it } from 'vitest';
import { KEV_KEY } from '../application/test-server.ts';
import {
  answerHello,
  answerNothing,
  cutAfter,
  HELLO_CHUNKS,
  refuse,
  replyJson,
  stallAfter,
  streamChunks,
} from '../upstream/upstream-answers.ts';
import type { AnswerScript } from '../upstream/upstream-double.ts';
import { timeouts } from '../upstream/upstream-fixture.ts';
import { ASK, type ChatSetup, collect, failureOf, startChat } from './openai-chat-fixture.ts';

describe('every error as the openai package sees it', () => {
  it.each<[string, AnswerScript, ChatSetup, unknown, object]>([
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
    [
      'an upstream that is slow',
      answerNothing,
      { upstream: timeouts({ totalMs: 100, firstByteMs: 100 }) },
      InternalServerError,
      { status: 504, code: 'upstream_timeout' },
    ],
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
    const { client } = await startChat(answer, setup);
    for (const stream of [false, true]) {
      const error = await failureOf(client.chat.completions.create({ ...ASK, stream }) as PromiseLike<unknown>);
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject(expected);
      expect(error.message).not.toContain('private');
    }
  });

  it('the time to come back is in both headers', async () => {
    const { client } = await startChat(refuse(429, {}, { 'retry-after': '7' }));
    const { headers } = await failureOf(client.chat.completions.create(ASK));
    expect([headers?.get('retry-after'), headers?.get('retry-after-ms')]).toEqual(['7', '7000']);
  });

  it('the package tries again by itself and gets its answer', async () => {
    const { client, double } = await startChat(refuse(429, {}, { 'retry-after-ms': '1' }));
    double.answer = (response, request) =>
      (double.requests.length === 1 ? refuse(429, {}, { 'retry-after-ms': '1' }) : answerHello)(response, request);
    const reply = await client.chat.completions.create(ASK, { maxRetries: 2 });
    expect(reply.model).toBe('llama');
    expect(double.requests).toHaveLength(2);
  });

  it.each<[string, AnswerScript, ChatSetup, string]>([
    ['broken off', cutAfter(HELLO_CHUNKS.slice(0, 2)), {}, 'upstream_error'],
    [
      'with an error of the upstream',
      streamChunks([HELLO_CHUNKS[1], { error: { message: 'private' } }]),
      {},
      'upstream_error',
    ],
    ['with a broken chunk', streamChunks([HELLO_CHUNKS[1], '{']), {}, 'upstream_error'],
    ['fallen silent', stallAfter([HELLO_CHUNKS[1]]), { upstream: timeouts({ idleMs: 100 }) }, 'upstream_timeout'],
    ['without a first byte', stallAfter([]), { upstream: timeouts({ firstByteMs: 1000 }) }, 'upstream_timeout'],
  ])('a stream %s ends with an error event', async (_name, answer, setup, code) => {
    const { client, server } = await startChat(answer, setup);
    const stream = await client.chat.completions.create({ ...ASK, stream: true });
    const error = await failureOf(collect(stream));
    expect(error).toMatchObject({ code, type: 'upstream_error' });
    expect(error.message).not.toContain('private');
    expect(JSON.stringify(server.log)).not.toContain('private');
  });

  it('after an error event the stream ends without [DONE]', async () => {
    const { client } = await startChat(cutAfter(HELLO_CHUNKS.slice(0, 2)));
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
    const { client, double } = await startChat(answerHello);
    const error = await failureOf(client.chat.completions.create({ ...ASK, ...fields } as typeof ASK));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: 'invalid_request', ...expected });
    expect(double.requests).toHaveLength(0);
  });

  it('is of its class for unknown and forbidden models', async () => {
    const { client, double } = await startChat(answerHello);
    const unknown = await failureOf(client.chat.completions.create({ ...ASK, model: 'nobody' }));
    expect(unknown).toBeInstanceOf(NotFoundError);
    const other = client.withOptions({ apiKey: KEV_KEY });
    expect(await failureOf(other.chat.completions.create(ASK))).toBeInstanceOf(PermissionDeniedError);
    expect(double.requests).toHaveLength(0);
  });
});
