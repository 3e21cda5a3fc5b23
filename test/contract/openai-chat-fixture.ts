// A server of ours on a real port, in front of an upstream double, and the unmodified `openai` package as its client.

import type { AddressInfo } from 'node:net';
import OpenAI, { APIError } from 'openai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { onTestFinished } from 'vitest';
import type { HttpOptions } from '../../src/http/server.ts';
import type { Accounting } from '../../src/services/accounting/accounting.ts';
import { CircuitBreaker } from '../../src/upstream/circuit-breaker.ts';
import { FailoverUpstream } from '../../src/upstream/failover-upstream.ts';
import { HttpChatUpstream } from '../../src/upstream/http-chat-upstream.ts';
import type { ChatUpstreamOptions } from '../../src/upstream/upstream-options.ts';
import { KEY, startTestServer } from '../application/test-server.ts';
import { type AnswerScript, UpstreamDouble } from '../upstream/upstream-double.ts';
import { chatUpstreamOptions } from '../upstream/upstream-fixture.ts';

export interface ChatSetup {
  readonly upstream?: Partial<ChatUpstreamOptions>;
  readonly http?: Partial<HttpOptions>;
  readonly accounting?: Accounting;
  /** Of a second upstream, `other`, which the model goes to where the first fails. Default: there is none. */
  readonly other?: AnswerScript;
}

/** Closed when the test has finished. */
export async function startChat(
  answer: AnswerScript,
  { upstream: overrides = {}, http = {}, accounting, other = answer }: ChatSetup = {},
) {
  const double = await UpstreamDouble.start(answer);
  const otherDouble = await UpstreamDouble.start(other);
  const first = new HttpChatUpstream(chatUpstreamOptions(double.baseUrl, overrides));
  const second = new HttpChatUpstream(chatUpstreamOptions(otherDouble.baseUrl, { ...overrides, name: 'other' }));
  const upstream = other === answer ? first : chainOf([first, second]);
  const server = await startTestServer(http, [upstream], accounting);
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await server.app.close();
    await Promise.all([double.close(), otherDouble.close()]);
    await server.chat.close();
    await Promise.all([first.close(), second.close()]);
  });
  const { port } = server.app.server.address() as AddressInfo;
  const baseURL = `http://127.0.0.1:${port}/ai/v1`;
  const client = new OpenAI({ baseURL, apiKey: KEY, maxRetries: 0 });
  return { double, otherDouble, client, server, baseURL };
}

function chainOf(upstreams: readonly HttpChatUpstream[]): FailoverUpstream {
  const terms = { weight: undefined, totalMs: 30_000, streamTotalMs: 30_000, firstByteMs: 30_000 };
  return new FailoverUpstream({
    members: upstreams.map((upstream) => ({
      ...terms,
      upstream,
      breaker: new CircuitBreaker({ failures: 5, pauseMs: 10_000 }),
    })),
  });
}

export const ASK = { model: 'llama', messages: [{ role: 'user' as const, content: 'Hi' }] };

export async function collect(stream: AsyncIterable<ChatCompletionChunk>): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const received of stream) chunks.push(received);
  return chunks;
}

export async function failureOf(promise: PromiseLike<unknown>): Promise<APIError> {
  const error = await promise.then(
    () => new Error('It did not fail.'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof APIError)) throw error;
  return error;
}

/** A body that no client of the format would write. */
export function postText(baseURL: string, body: string): Promise<Response> {
  return fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body,
  });
}
