// Chat in front of a real server of the format, by the unmodified `openai` package: what a double cannot prove.

import type { AddressInfo } from 'node:net';
import OpenAI, { BadRequestError } from 'openai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpChatUpstream } from '../../../src/upstream/http-chat-upstream.ts';
import { KEY, startTestServer } from '../../application/test-server.ts';
import { chatUpstreamOptions } from '../../upstream/upstream-fixture.ts';
import { ConnectionCounter } from './connection-counter.ts';
import { findRealChatServer, type RealChatServer } from './real-chat-server.ts';

const say = (line: string) => process.stderr.write(`chat-real-upstream: ${line}\n`);
const ASK = { model: 'llama', messages: [{ role: 'user' as const, content: 'Hello there, how are you?' }] };
const LONG_TOKENS = 2000;
const TIMEOUT_MS = 600_000;

const real: RealChatServer | undefined = await findRealChatServer(say);
const closers: (() => Promise<unknown>)[] = [];
let client: OpenAI;
let counter: ConnectionCounter;

beforeAll(async () => {
  if (real === undefined) return;
  closers.push(() => real.stop());
  counter = await ConnectionCounter.start(new URL(real.baseUrl));
  closers.push(() => counter.close());
  const url = new URL(real.baseUrl);
  url.port = String(counter.port);
  const timeouts = { connectMs: 5000, firstByteMs: TIMEOUT_MS, idleMs: TIMEOUT_MS, totalMs: TIMEOUT_MS };
  const upstream = new HttpChatUpstream(
    chatUpstreamOptions(url.href, { upstreamModel: real.model, timeouts: { ...timeouts, streamTotalMs: TIMEOUT_MS } }),
  );
  const { app } = await startTestServer({}, [upstream]);
  await app.listen({ host: '127.0.0.1', port: 0 });
  closers.push(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/ai/v1`, apiKey: KEY, maxRetries: 0, timeout: TIMEOUT_MS });
});

afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

async function collect(stream: AsyncIterable<ChatCompletionChunk>): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function textOf(chunks: readonly ChatCompletionChunk[]): string {
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
}

describe.skipIf(real === undefined)('a real chat server', () => {
  it('completes under our name, and counts', async () => {
    const reply = await client.chat.completions.create({ ...ASK, max_tokens: 24 });
    expect(reply.model).toBe('llama');
    expect(reply.choices[0]?.finish_reason).toBe('length');
    expect(reply.usage?.completion_tokens).toBe(24);
    expect(reply.usage?.total_tokens).toBe(24 + (reply.usage?.prompt_tokens ?? 0));
    say(`completion: usage ${JSON.stringify(reply.usage)}`);
  });

  it('streams the same answer, with usage in the last chunk if asked', async () => {
    const ask = { ...ASK, max_tokens: 24, seed: 1 };
    const whole = await client.chat.completions.create(ask);
    const options = { stream: true as const, stream_options: { include_usage: true } };
    const asked = await collect(await client.chat.completions.create({ ...ask, ...options }));
    const plain = await collect(await client.chat.completions.create({ ...ask, stream: true }));
    expect(asked.length).toBeGreaterThan(3);
    // The server's streams leave out a character that the limit cut in half; its whole answers show it.
    expect(textOf(asked)).toBe(whole.choices[0]?.message.content?.replace(/\ufffd+$/, ''));
    expect(textOf(plain)).toBe(textOf(asked));
    expect(asked.at(-1)?.usage).toMatchObject({ completion_tokens: 24, prompt_tokens: whole.usage?.prompt_tokens });
    expect(plain.some((chunk) => 'usage' in chunk)).toBe(false);
    expect(asked.every(({ model }) => model === 'llama')).toBe(true);
    say(`stream: ${asked.length} chunks with usage, ${plain.length} without`);
  });

  it('passes a mistake on with the server’s own words', async () => {
    const call = client.chat.completions.create({ ...ASK, no_such_field: 1 } as typeof ASK);
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(BadRequestError);
    expect(String(error)).toContain('no_such_field');
    say(`mistake: ${error}`);
  });

  it('stops working when the client leaves in mid-stream', async () => {
    const stream = await client.chat.completions.create({ ...ASK, max_tokens: LONG_TOKENS, stream: true });
    const startMs = performance.now();
    let chunks = 0;
    for await (const _chunk of stream) if (++chunks === 10) break;
    const perChunkMs = (performance.now() - startMs) / chunks;
    const leftMs = performance.now();
    await counter.untilOpen(0);
    const closedMs = performance.now() - leftMs;
    // The server generates one answer at a time: if it were still busy, this one would wait for about 2,000 tokens.
    await client.chat.completions.create({ ...ASK, max_tokens: 2 });
    const nextMs = performance.now() - leftMs;
    expect(nextMs).toBeLessThan((perChunkMs * LONG_TOKENS) / 4);
    say(
      `left after ${chunks} chunks of ${Math.round(perChunkMs)} ms: closed after ${Math.round(closedMs)} ms, ` +
        `next answer after ${Math.round(nextMs)} ms`,
    );
  });

  it('serves streams side by side, of which some are left', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const stream = await client.chat.completions.create({ ...ASK, max_tokens: 16, stream: true });
        if (index % 3 === 0) stream.controller.abort();
        return textOf(await collect(stream).catch(() => []));
      }),
    );
    expect(new Set(answers.filter((text) => text !== '')).size).toBe(1);
    await client.chat.completions.create({ ...ASK, max_tokens: 1 });
    say(`side by side: ${answers.filter((text) => text !== '').length} of 6 read to the end, all alike`);
  });
});
