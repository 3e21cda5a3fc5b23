// A server of ours on a real port, in front of an upstream double, and the unmodified `openai` package as its client.

import type { AddressInfo } from 'node:net';
import OpenAI, { APIError } from 'openai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { onTestFinished } from 'vitest';
import type { HttpOptions } from '../../src/http/server.ts';
import type { Accounting } from '../../src/services/accounting/accounting.ts';
import { HttpChatUpstream } from '../../src/upstream/http-chat-upstream.ts';
import type { ChatUpstreamOptions } from '../../src/upstream/upstream-options.ts';
import { KEY, startTestServer } from '../application/test-server.ts';
import { type AnswerScript, UpstreamDouble } from '../upstream/upstream-double.ts';
import { chatUpstreamOptions } from '../upstream/upstream-fixture.ts';

export interface ChatSetup {
  readonly upstream?: Partial<ChatUpstreamOptions>;
  readonly http?: Partial<HttpOptions>;
  readonly accounting?: Accounting;
}

/** Closed when the test has finished. */
export async function startChat(
  answer: AnswerScript,
  { upstream: overrides = {}, http = {}, accounting }: ChatSetup = {},
) {
  const double = await UpstreamDouble.start(answer);
  const upstream = new HttpChatUpstream(chatUpstreamOptions(double.baseUrl, overrides));
  const server = await startTestServer(http, [upstream], accounting);
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await server.app.close();
    await double.close();
    await server.chat.close();
    await upstream.close();
  });
  const { port } = server.app.server.address() as AddressInfo;
  const baseURL = `http://127.0.0.1:${port}/ai/v1`;
  const client = new OpenAI({ baseURL, apiKey: KEY, maxRetries: 0 });
  return { double, client, server, baseURL };
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
