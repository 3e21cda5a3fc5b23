// An upstream for tests: our `llama` is the double's `vendor/llama-7b`; no clock runs out by itself.

import { onTestFinished } from 'vitest';
import type { ChatRequest } from '../../src/domain/chat.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { ChatStream } from '../../src/upstream/chat-upstream.ts';
import { HttpChatUpstream } from '../../src/upstream/http-chat-upstream.ts';
import type { ChatUpstreamOptions } from '../../src/upstream/upstream-options.ts';
import { UPSTREAM_MODEL } from './upstream-answers.ts';
import { type AnswerScript, UpstreamDouble } from './upstream-double.ts';

const LONG_MS = 30_000;

/** The signal of a client that stays. */
export const STAYS = new AbortController().signal;

export function chatUpstreamOptions(
  baseUrl: string,
  overrides: Partial<ChatUpstreamOptions> = {},
): ChatUpstreamOptions {
  return {
    name: 'double',
    modelId: 'llama',
    description: 'An upstream model.',
    ownedBy: 'vendor',
    releaseDate: '2026-01-01',
    price: { inputMicroUsd: 1_000_000, cachedInputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 },
    baseUrl,
    upstreamModel: UPSTREAM_MODEL,
    apiKey: 'upstream-secret',
    timeouts: { connectMs: LONG_MS, firstByteMs: LONG_MS, idleMs: LONG_MS, totalMs: LONG_MS, streamTotalMs: LONG_MS },
    formats: ['chat', 'completions', 'responses'],
    weight: undefined,
    breaker: { failures: 5, pauseMs: 10_000 },
    takesStreamOptions: true,
    maxConcurrentRequests: 64,
    reasoning: undefined,
    reserveOutputTokens: 4096,
    whenClientLeaves: 'estimate',
    ...overrides,
  };
}

export function timeouts(changes: Partial<ChatUpstreamOptions['timeouts']>): Partial<ChatUpstreamOptions> {
  return { timeouts: { ...chatUpstreamOptions('').timeouts, ...changes } };
}

/** Both ends, closed when the test has finished. */
export async function startUpstream(answer: AnswerScript, overrides: Partial<ChatUpstreamOptions> = {}) {
  const double = await UpstreamDouble.start(answer);
  const upstream = new HttpChatUpstream(chatUpstreamOptions(double.baseUrl, overrides));
  onTestFinished(async () => {
    await double.close();
    await upstream.close();
  });
  return { double, upstream };
}

export function ask(fields: object = {}, request: Partial<ChatRequest> = {}): ChatRequest {
  const bodyText = JSON.stringify({ model: 'llama', messages: [{ role: 'user', content: 'Hi' }], ...fields });
  const asked = { modelId: 'llama', format: 'chat' as const, stream: false, includeUsage: false, bodyText, ...request };
  return { body: JSON.parse(asked.bodyText), ...asked };
}

export function askStream(includeUsage = false): ChatRequest {
  const options = includeUsage ? { stream_options: { include_usage: true } } : {};
  return ask({ stream: true, ...options }, { stream: true, includeUsage });
}

export async function collect(stream: ChatStream): Promise<Record<string, unknown>[]> {
  const chunks: Record<string, unknown>[] = [];
  for await (const { json } of stream.chunks) chunks.push(JSON.parse(json));
  return chunks;
}

export async function failureOf(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(
    () => new Error('It did not fail.'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) throw error;
  return error;
}
