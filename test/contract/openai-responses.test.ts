// The formats of responses and of completions as the unmodified `openai` package sees them, and what they are billed.

import { APIError } from 'openai';
import { describe, expect, it } from 'vitest';
import { cost, startBilledChat } from '../application/billed-chat.ts';
import {
  event,
  refuse,
  replyJson,
  startStream,
  streamRaw,
  UPSTREAM_MODEL,
  USAGE,
} from '../upstream/upstream-answers.ts';
import type { AnswerScript } from '../upstream/upstream-double.ts';
import { failureOf } from './openai-chat-fixture.ts';

const TEXTS = { model: 'llama', prompt: 'Once upon a time' };
const ITEMS = { model: 'llama', input: 'Say hello.' };
/** Our estimates of the first twice, of the second, and of `Hello there!`. */
const [TEXTS_ESTIMATE, ITEMS_ESTIMATE, OUTPUT_ESTIMATE] = [7, 7, 3];

function textCompletion(fields: object = {}): object {
  const choices = [{ index: 0, text: 'Hello there!', logprobs: null, finish_reason: 'stop' }];
  return { id: 'cmpl-1', object: 'text_completion', created: 1_700_000_000, model: UPSTREAM_MODEL, choices, ...fields };
}

const textChunk = (text: string, finish_reason: string | null = null): object =>
  textCompletion({ choices: [{ index: 0, text, finish_reason }] });

const RESPONSE_USAGE = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 20 },
  total_tokens: 39,
};
/** At the price of billed-chat.ts, cached input at a quarter. */
const RESPONSE_COST = cost(5, 30) + 4n * 250_000n;
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello there!', annotations: [] }],
};

function response(fields: object = {}): object {
  const whole = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    error: null,
    output: [MESSAGE],
  };
  return { ...whole, model: UPSTREAM_MODEL, vendor_field: 1.5, usage: RESPONSE_USAGE, ...fields };
}

const named = (type: string, fields: object): string => `event: ${type}\n${event({ type, ...fields })}`;
const BEGIN = [
  named('response.created', { response: response({ status: 'in_progress', output: [], usage: null }) }),
  named('response.output_text.delta', { item_id: 'msg_1', delta: 'Hello' }),
  named('response.output_text.delta', { item_id: 'msg_1', delta: ' there!' }),
].join('');
const end = (fields: object = {}): string => named('response.completed', { response: response(fields) });

const either =
  (whole: AnswerScript, streamed: AnswerScript): AnswerScript =>
  (reply, request) =>
    (request.json.stream === true ? streamed : whole)(reply, request);

describe('completions with the openai package', () => {
  const usageChunk = { ...textCompletion({ choices: [] }), usage: USAGE };
  const chunks = [textChunk('Hello'), textChunk(' there!', 'stop')];
  const answer = either(
    replyJson({ ...textCompletion(), usage: USAGE }),
    streamRaw([...chunks, usageChunk, '[DONE]'].map(event).join('')),
  );

  it('completes, and is billed what the upstream tells', async () => {
    const { client, double, row, ledger } = await startBilledChat(answer);
    const { data, response: head } = await client.completions.create({ ...TEXTS, suffix: 'x' }).withResponse();
    expect(data).toMatchObject({ model: 'llama', choices: [{ text: 'Hello there!' }], usage: USAGE });
    expect(head.headers.get('x-umpire-upstream')).toBe('double');
    expect(double.lastRequest).toMatchObject({ path: '/v1/completions', json: { ...TEXTS, model: UPSTREAM_MODEL } });
    expect(await row()).toMatchObject({ end: 'completed', costPicoUsd: cost(9, 3), isEstimated: false });
    expect(ledger.reservations[0]).toMatchObject({ endpoint: '/ai/v1/completions', isStreamed: false });
  });

  it('streams, with usage where it is asked for, and is billed the same', async () => {
    const { client, row } = await startBilledChat(answer);
    const options = { stream: true as const, stream_options: { include_usage: true } };
    const texts: string[] = [];
    let told: unknown;
    for await (const { choices, usage } of await client.completions.create({ ...TEXTS, ...options })) {
      texts.push(choices[0]?.text ?? '');
      told = usage;
    }
    expect(texts.join('')).toBe('Hello there!');
    expect(told).toEqual(USAGE);
    expect(await row()).toMatchObject({ end: 'completed', costPicoUsd: cost(9, 3), isEstimated: false });
  });

  it('is billed an estimate where no usage is told, for which every prompt and choice was reserved', async () => {
    const { client, row, ledger } = await startBilledChat(either(replyJson(textCompletion()), answer));
    const asked = { ...TEXTS, prompt: ['Once upon a time', 'Once upon a time'], n: 2, best_of: 3, max_tokens: 10 };
    const reply = await client.completions.create(asked);
    expect(reply).toMatchObject({ 'x-umpire-usage': 'estimated', usage: { completion_tokens: OUTPUT_ESTIMATE } });
    expect(ledger.reservations[0]?.demand.costPicoUsd).toBe(cost(TEXTS_ESTIMATE, 2 * 3 * 10));
    expect(await row()).toMatchObject({ isEstimated: true, costPicoUsd: cost(TEXTS_ESTIMATE, OUTPUT_ESTIMATE) });
  });
});

describe('responses with the openai package', () => {
  const answer = either(replyJson(response()), streamRaw(BEGIN + end()));

  it('responds, and is billed what the upstream tells, cached input at its own price', async () => {
    const { client, double, row, ledger } = await startBilledChat(answer);
    const { data, response: head } = await client.responses.create({ ...ITEMS, temperature: 0.5 }).withResponse();
    expect(data.output_text).toBe('Hello there!');
    expect(data).toMatchObject({ model: 'llama', usage: RESPONSE_USAGE, vendor_field: 1.5 });
    expect(head.headers.get('x-umpire-upstream')).toBe('double');
    expect(double.lastRequest.path).toBe('/v1/responses');
    expect(double.lastRequest.json).toEqual({ ...ITEMS, temperature: 0.5, model: UPSTREAM_MODEL });
    expect(await row()).toMatchObject({
      end: 'completed',
      usage: { inputTokens: 9, cachedTokens: 4, outputTokens: 30, reasoningTokens: 20 },
      costPicoUsd: RESPONSE_COST,
    });
    expect(ledger.reservations[0]).toMatchObject({ endpoint: '/ai/v1/responses', isStreamed: false });
  });

  it('streams its events under their names, and is billed when the last has come', async () => {
    const { client, row } = await startBilledChat(answer);
    const types: string[] = [];
    let last: unknown;
    for await (const each of await client.responses.create({ ...ITEMS, stream: true })) {
      types.push(each.type);
      if ('response' in each) last = each.response;
    }
    const delta = 'response.output_text.delta';
    expect(types).toEqual(['response.created', delta, delta, 'response.completed']);
    expect(last).toMatchObject({ model: 'llama', usage: RESPONSE_USAGE });
    expect(await row()).toMatchObject({ end: 'completed', costPicoUsd: RESPONSE_COST, isEstimated: false });
  });

  it('ends a stream after its last event, and names every event', async () => {
    const { baseURL, client } = await startBilledChat(answer);
    const reply = await fetch(`${baseURL}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ITEMS, stream: true }),
    });
    const text = await reply.text();
    expect(text).not.toContain('[DONE]');
    expect(text).not.toContain(UPSTREAM_MODEL);
    expect(text.match(/^event: /gm)).toHaveLength(4);
  });

  it.each([false, true])('is billed an estimate where no usage is told, streamed: %s', async (stream) => {
    const none = { usage: undefined };
    const { client, row } = await startBilledChat(either(replyJson(response(none)), streamRaw(BEGIN + end(none))));
    const told: unknown[] = [];
    if (!stream) told.push(await client.responses.create(ITEMS));
    else
      for await (const each of await client.responses.create({ ...ITEMS, stream }))
        if (each.type === 'response.completed') told.push(each.response);
    expect(told).toMatchObject([
      {
        'x-umpire-usage': 'estimated',
        usage: { input_tokens: ITEMS_ESTIMATE, output_tokens: OUTPUT_ESTIMATE },
      },
    ]);
    expect(await row()).toMatchObject({ isEstimated: true, costPicoUsd: cost(ITEMS_ESTIMATE, OUTPUT_ESTIMATE) });
  });

  it.each([
    ['an error inside a 200', replyJson(response({ status: 'failed', error: { code: 'server_error' } }))],
    ['something else', replyJson({ object: 'list', data: [] })],
    ['a refusal', refuse(500, {})],
  ])('is a 502 at no cost where the upstream answers with %s', async (_what, whole) => {
    const { client, row } = await startBilledChat(whole);
    expect((await failureOf(client.responses.create(ITEMS))).status).toBe(502);
    expect(await row()).toMatchObject({ end: 'upstream_failed', costPicoUsd: 0n });
  });

  it.each([
    ['fails', BEGIN + named('response.failed', { response: response({ status: 'failed', error: { code: 'x' } }) })],
    ['reports an error', BEGIN + named('error', { code: 'server_error', message: 'no' })],
    ['breaks off', BEGIN],
  ])('is an error and costs nothing where a stream %s', async (_what, text) => {
    const { client, row } = await startBilledChat(streamRaw(text));
    const read = async () => {
      for await (const each of await client.responses.create({ ...ITEMS, stream: true }))
        expect(each.type).not.toBe('response.completed');
    };
    await expect(read()).rejects.toThrow(APIError);
    expect(await row()).toMatchObject({ end: 'upstream_failed', costPicoUsd: 0n });
  });

  it('goes to the next upstream as chat does', async () => {
    const failing = either(refuse(503, {}), streamRaw(named('error', { code: 'server_error' })));
    const { client, row, otherDouble } = await startBilledChat(failing, { other: answer });
    for await (const each of await client.responses.create({ ...ITEMS, stream: true })) expect(each.type).toBeTruthy();
    expect(otherDouble.requests).toHaveLength(1);
    expect(await row()).toMatchObject({ end: 'completed', upstream: 'other', costPicoUsd: RESPONSE_COST });
  });

  it('bills a client that leaves a stream by what has come', async () => {
    const stalls: AnswerScript = (reply) => {
      startStream(reply);
      reply.write(BEGIN);
    };
    const { client, row } = await startBilledChat(stalls);
    for await (const each of await client.responses.create({ ...ITEMS, stream: true }))
      if (each.type === 'response.output_text.delta' && each.delta === ' there!') break;
    expect(await row()).toMatchObject({ end: 'client_left', isEstimated: true });
  });

  it.each([
    ['background', true],
    ['previous_response_id', 'resp_of_somebody'],
    ['conversation', 'conv_of_somebody'],
  ])('is refused with %s, which would outlast the request, and asks nobody', async (name, value) => {
    const { client, double } = await startBilledChat(answer);
    const error = await failureOf(client.responses.create({ ...ITEMS, [name]: value }));
    expect(error).toMatchObject({ status: 400, code: 'invalid_request', param: name });
    expect(double.requests).toHaveLength(0);
  });
});

describe('a model whose upstream does not serve a format', () => {
  it('is refused there, and works on the other endpoint', async () => {
    const { client, double } = await startBilledChat(refuse(404, {}), { upstream: { formats: ['chat'] } });
    for (const call of [client.responses.create(ITEMS), client.completions.create(TEXTS)])
      expect(await failureOf(call)).toMatchObject({ status: 400, code: 'model_type_mismatch', param: 'model' });
    expect(double.requests).toHaveLength(0);
  });
});
