// An upstream that answers 200 with an error inside, in all three formats, streamed and not: its caller is told of a failure,
// nothing is billed, and where another upstream has the model, that one answers.

import { describe, expect, it } from 'vitest';
import type { ChatFormat } from '../../src/domain/chat.ts';
import {
  completion,
  deltaChunk,
  event,
  namedEvent,
  replyJson,
  streamRaw,
  streamText,
  USAGE,
} from '../upstream/upstream-answers.ts';
import type { AnswerScript } from '../upstream/upstream-double.ts';
import { cost, startBilledChat } from './billed-chat.ts';
import { KEY } from './test-server.ts';

const SAID = 'What the upstream said of it';
const ERROR = { message: SAID, type: 'server_error', code: 'boom' };

interface FormatCase {
  readonly path: string;
  readonly ask: object;
  /** Whole replies with an error inside. */
  readonly whole: Readonly<Record<string, unknown>>;
  /** The first event of a good stream, then the ends of bad ones. */
  readonly firstEvent: string;
  readonly badEvents: Readonly<Record<string, string>>;
  readonly good: unknown;
  readonly goodStream: string;
}

const choice = { index: 0, text: 'Hello there!', logprobs: null, finish_reason: 'stop' };
const textCompletion = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm', choices: [choice] };
const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello there!' }] }];
const usage = { input_tokens: 9, output_tokens: 3, total_tokens: 12 };
const response = { id: 'resp_1', object: 'response', status: 'completed', error: null, model: 'm', output, usage };

const ERRORS_OF_CHAT = {
  'an error object': { error: ERROR },
  'an error as text': { error: SAID },
  'an error beside a choice': { ...completion(), error: ERROR },
  'an object that is an error': { object: 'error', ...ERROR },
};
const ERROR_EVENTS_OF_CHAT = {
  'an error object': event({ error: ERROR }),
  'an event of the type error': `event: error\n${event({ error: ERROR })}`,
  'an object that is an error': event({ object: 'error', ...ERROR }),
};

const FORMATS: Readonly<Record<ChatFormat, FormatCase>> = {
  chat: {
    path: 'chat/completions',
    ask: { messages: [{ role: 'user', content: 'Hi there' }] },
    whole: ERRORS_OF_CHAT,
    firstEvent: event(deltaChunk('Hel')),
    badEvents: ERROR_EVENTS_OF_CHAT,
    good: completion(),
    goodStream: streamText([deltaChunk('Hello there!', 'stop'), { choices: [], usage: USAGE }]),
  },
  completions: {
    path: 'completions',
    ask: { prompt: 'Hi there' },
    whole: { ...ERRORS_OF_CHAT, 'an error beside a choice': { ...textCompletion, error: ERROR } },
    firstEvent: event({ ...textCompletion, choices: [{ ...choice, finish_reason: null }] }),
    badEvents: ERROR_EVENTS_OF_CHAT,
    good: { ...textCompletion, usage: USAGE },
    goodStream: streamText([textCompletion, { ...textCompletion, choices: [], usage: USAGE }]),
  },
  responses: {
    path: 'responses',
    ask: { input: 'Hi there' },
    whole: {
      'an error object': { error: ERROR },
      'an error as text': { error: SAID },
      'a response that failed': { ...response, status: 'failed', error: ERROR },
      'a response that failed without a reason': { ...response, status: 'failed' },
      'an object that is an error': { object: 'error', ...ERROR },
    },
    firstEvent: namedEvent('response.output_text.delta', { delta: 'Hel' }),
    badEvents: {
      'an event of the type error': namedEvent('error', ERROR),
      'an error object': event({ error: ERROR }),
      'a response that failed': namedEvent('response.failed', {
        response: { ...response, status: 'failed', error: ERROR },
      }),
      'a response that failed without a reason': namedEvent('response.failed', { response: { status: 'failed' } }),
    },
    good: response,
    goodStream:
      namedEvent('response.output_text.delta', { delta: 'Hello there!' }) +
      namedEvent('response.completed', { response }),
  },
};

const bad = Object.entries(FORMATS).flatMap(([format, { whole, badEvents, firstEvent }]) => [
  ...Object.entries(whole).map(([what, body]) => ({ format, stream: false, what, answer: replyJson(body) })),
  ...Object.entries(whole).map(([what, body]) => ({
    ...{ format, stream: true, what: `no stream but ${what}`, answer: replyJson(body) },
  })),
  ...Object.entries(badEvents).map(([what, text]) => ({ format, stream: true, what, answer: streamRaw(text) })),
  ...Object.entries(badEvents).map(([what, text]) => ({
    ...{ format, stream: true, what: `${what}, after a piece of the answer`, answer: streamRaw(firstEvent + text) },
  })),
]) as readonly { format: ChatFormat; stream: boolean; what: string; answer: AnswerScript }[];
const early = bad.filter(({ what }) => !what.includes('after'));
const late = bad.filter(({ what }) => what.includes('after'));

async function post(
  baseURL: string,
  { format, stream }: (typeof bad)[number],
): Promise<{ reply: Response; text: string }> {
  const { path, ask } = FORMATS[format];
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'llama', ...ask, stream });
  const reply = await fetch(`${baseURL}/${path}`, { method: 'POST', headers, body });
  return { reply, text: await reply.text() };
}

describe('an error in a 200', () => {
  it.each(bad)('is a failure of the upstream that costs nothing: $format, streamed: $stream, $what', async (one) => {
    const { baseURL, row } = await startBilledChat(one.answer);
    const { reply, text } = await post(baseURL, one);
    const isBegun = reply.headers.get('content-type')?.startsWith('text/event-stream') === true;
    expect(reply.status).toBe(isBegun ? 200 : 502);
    expect(text).toContain('"upstream_error"');
    expect(text).not.toMatch(/\[DONE\]|response\.completed|What the upstream said/);
    expect(await row()).toMatchObject({
      end: 'upstream_failed',
      status: 502,
      errorCode: 'upstream_error',
      costPicoUsd: 0n,
      upstream: 'double',
      upstreamFailures: expect.stringMatching(/^double:(error_reply|broken_reply)$/),
    });
  });

  it.each(early)('is answered by another upstream, and billed once: $format, streamed: $stream, $what', async (one) => {
    const { good, goodStream } = FORMATS[one.format];
    const other = one.stream ? streamRaw(goodStream) : replyJson(good);
    const { baseURL, row } = await startBilledChat(one.answer, { other });
    const { reply, text } = await post(baseURL, one);
    expect(reply.status).toBe(200);
    expect(text).toContain('Hello there!');
    expect(text).not.toMatch(/"error":[{"]/);
    expect(await row()).toMatchObject({ end: 'completed', costPicoUsd: cost(9, 3), upstream: 'other' });
  });

  it.each(late)('stays with the upstream that had begun: $format, $what', async (one) => {
    const { goodStream } = FORMATS[one.format];
    const { baseURL, row, otherDouble } = await startBilledChat(one.answer, { other: streamRaw(goodStream) });
    expect((await post(baseURL, one)).text).toContain('"upstream_error"');
    expect(await row()).toMatchObject({ end: 'upstream_failed', costPicoUsd: 0n, upstream: 'double' });
    expect(otherDouble.requests).toHaveLength(0);
  });
});
