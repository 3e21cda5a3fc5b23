// What a chat call that runs to its end is reserved and billed, whole and streamed, whatever usage the upstream tells.

import { describe, expect, it } from 'vitest';
import { STANDING } from '../ledger/scripted-ledger.ts';
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
} from '../upstream/upstream-answers.ts';
import type { AnswerScript } from '../upstream/upstream-double.ts';
import { cost, INPUT_ESTIMATE, startBilledChat } from './billed-chat.ts';

/** Our estimate of `Hello there!`. */
const OUTPUT_ESTIMATE = 3;

function tellUsage(usage: object | null): AnswerScript {
  return (response, request) => {
    const script =
      request.json.stream === true
        ? streamChunks([...HELLO_CHUNKS, chunk({ choices: [], usage })])
        : replyJson(completion({ usage }));
    return script(response, request);
  };
}

describe.each([false, true])('a chat call that ends, streamed: %s', (stream) => {
  it('is billed by the usage of the upstream, cached input at its own price', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    const { ask, row, ledger } = await startBilledChat(tellUsage(usage));
    expect((await ask({ stream })).status).toBe(200);
    expect(await row()).toMatchObject({
      end: 'completed',
      status: 200,
      errorCode: null,
      usage: { inputTokens: 100, cachedTokens: 40, outputTokens: 7, reasoningTokens: 5 },
      isEstimated: false,
      costPicoUsd: 60n * 1_000_000n + 40n * 250_000n + 7n * 2_000_000n,
      waitMs: expect.any(Number),
    });
    expect(ledger.reservations[0]).toMatchObject({ isStreamed: stream, endpoint: '/ai/v1/chat/completions' });
  });

  it('is billed nothing where the upstream says zero', async () => {
    const { ask, row } = await startBilledChat(tellUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }));
    await (await ask({ stream })).text();
    expect(await row()).toMatchObject({ end: 'completed', isEstimated: false, costPicoUsd: 0n });
  });

  it.each([
    ['none', null],
    ['half of it', { prompt_tokens: 5 }],
    ['negative numbers', { prompt_tokens: -5, completion_tokens: 5 }],
    ['fractions', { prompt_tokens: 5.5, completion_tokens: 5 }],
    ['more than can be', { prompt_tokens: 5, completion_tokens: 1_000_000_001 }],
  ])('is billed an estimate, which is marked, where the usage told is %s', async (_name, usage) => {
    const { ask, row } = await startBilledChat(tellUsage(usage));
    const text = await (await ask({ stream, ...(stream ? { stream_options: { include_usage: true } } : {}) })).text();
    // What the client is told is what is billed.
    const last = stream ? text.split('\n\n').at(-3)?.replace('data: ', '') : text;
    expect(JSON.parse(last ?? '')).toMatchObject({
      usage: {
        prompt_tokens: INPUT_ESTIMATE,
        completion_tokens: OUTPUT_ESTIMATE,
        total_tokens: INPUT_ESTIMATE + OUTPUT_ESTIMATE,
      },
      'x-umpire-usage': 'estimated',
    });
    expect(await row()).toMatchObject({
      end: 'completed',
      isEstimated: true,
      usage: { inputTokens: INPUT_ESTIMATE, outputTokens: OUTPUT_ESTIMATE, cachedTokens: 0, reasoningTokens: 0 },
      costPicoUsd: cost(INPUT_ESTIMATE, OUTPUT_ESTIMATE),
    });
  });

  it('has reserved its input by estimate and its output by its limits, reasoning and choices included', async () => {
    const reasoning = { usage: 'auto', allowanceTokens: 1000, capField: 'max_tokens' } as const;
    const { ask, ledger } = await startBilledChat(answerHello, { upstream: { reasoning } });
    for (const fields of [{ max_tokens: 50, n: 2 }, { max_completion_tokens: 30 }, {}]) {
      await (await ask({ stream, ...fields })).text();
    }
    expect(ledger.reservations.map(({ demand }) => [demand.costPicoUsd, demand.tokens])).toEqual([
      [cost(INPUT_ESTIMATE, 2100), INPUT_ESTIMATE + 2100],
      [cost(INPUT_ESTIMATE, 30), INPUT_ESTIMATE + 30],
      [cost(INPUT_ESTIMATE, 4096), INPUT_ESTIMATE + 4096],
    ]);
  });

  it('tells where the key stands', async () => {
    const { ask } = await startBilledChat(answerHello);
    const { headers } = await ask({ stream });
    expect(headers.get('x-umpire-budget-remaining-usd')).toBe('0.0000004');
    expect(headers.get('x-ratelimit-remaining-requests')).toBe(String(STANDING.requests?.remaining));
    expect(headers.get('x-ratelimit-remaining-tokens')).toBe(String(STANDING.tokens?.remaining));
    expect(headers.get('x-umpire-cost-usd')).toBe(stream ? null : '0.000015');
  });

  it('is not known to be over before its row is written', async () => {
    const { ask, ledger } = await startBilledChat(answerHello);
    const held = Promise.withResolvers<{ type: 'settled'; standing: typeof STANDING }>();
    const asked = Promise.withResolvers<void>();
    ledger.settleScript.push(() => {
      asked.resolve();
      return held.promise;
    });
    let isOver = false;
    const reading = ask({ stream })
      .then((reply) => reply.text())
      .then((text) => {
        isOver = true;
        return text;
      });
    await asked.promise;
    expect(isOver).toBe(false);
    held.resolve({ type: 'settled', standing: STANDING });
    expect(await reading).toContain(stream ? 'data: [DONE]' : '"chat.completion"');
  });
});

describe('a stream', () => {
  it('is billed by the last usage it told, also when it said it early', async () => {
    const words = [
      deltaChunk('Hello'),
      chunk({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 1 } }),
      deltaChunk(' there!', 'stop'),
      chunk({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 3 } }),
      chunk({ choices: [], usage: { prompt_tokens: 9, completion_tokens: -1 } }),
    ];
    const { ask, row } = await startBilledChat(streamChunks(words));
    await (await ask({ stream: true })).text();
    expect(await row()).toMatchObject({ isEstimated: false, costPicoUsd: cost(9, 3) });
  });

  it('has nothing of the bill in its chunks', async () => {
    const { ask } = await startBilledChat(answerHello);
    const text = await (await ask({ stream: true })).text();
    const sent = HELLO_CHUNKS.map((hello) => event({ ...hello, model: 'llama' })).join('');
    expect(text).toBe(`${sent}data: [DONE]\n\n`);
  });

  it('waits for its first byte, neither for its head nor for its end', async () => {
    const begin = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const { ask, row } = await startBilledChat(async (response) => {
      startStream(response);
      await begin.promise;
      response.write(event(HELLO_CHUNKS[0]));
      await finish.promise;
      response.end(HELLO_CHUNKS.map(event).join('') + event('[DONE]'));
    });
    const askMs = performance.now();
    const reply = await ask({ stream: true });
    const headMs = performance.now();
    await manyTurns();
    const beginMs = performance.now();
    begin.resolve();
    const reader = reply.body?.getReader();
    await reader?.read();
    const firstMs = performance.now();
    while (performance.now() < firstMs + 5) await manyTurns();
    finish.resolve();
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read());
    const { waitMs } = await row();
    expect(waitMs).toBeGreaterThanOrEqual(Math.floor(beginMs - headMs));
    expect(waitMs).toBeLessThanOrEqual(Math.ceil(firstMs - askMs));
  });
});

async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve));
}
