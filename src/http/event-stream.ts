// Writes a stream of chat chunks as server-sent events: head at once, one event per chunk, `[DONE]` or an error event at
// the end. Pulls only when the client takes in what it was sent.

import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorBody, recordError } from './error-reply.ts';
import { ClientLeftError } from './requester.ts';

const HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Reverse proxies would otherwise collect the stream before they pass it on.
  'x-accel-buffering': 'no',
};
const LINE_BREAKS = /[\r\n]+/g;

/**
 * Takes the reply out of the framework's hands: its own streams send no head before the first byte.
 * @param chunks JSON texts; when they throw, the client gets an error event and no `[DONE]`
 * @param writeTimeoutMs a client that takes in nothing for that long is disconnected
 */
export async function sendEventStream(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    chunks,
    writeTimeoutMs,
  }: { readonly chunks: AsyncIterable<{ readonly json: string }>; readonly writeTimeoutMs: number },
): Promise<void> {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.headers(HEAD).getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value);
  }
  raw.flushHeaders();
  try {
    // Line breaks stand only between the tokens of JSON, never in a string.
    for await (const { json } of chunks) await writeEvent(raw, json.replace(LINE_BREAKS, ' '), writeTimeoutMs);
    end(raw, '[DONE]', writeTimeoutMs);
  } catch (error) {
    if (!(error instanceof ClientLeftError)) end(raw, errorBody(recordError(error, request)), writeTimeoutMs);
  }
}

function end(raw: ServerResponse, data: string, writeTimeoutMs: number): void {
  const timer = setTimeout(() => raw.destroy(), writeTimeoutMs);
  raw.once('close', () => clearTimeout(timer));
  raw.end(formatEvent(data));
}

function formatEvent(data: string): string {
  return `data: ${data}\n\n`;
}

/** Resolves when there is room for more. @throws ClientLeftError when the client has left or stalls */
async function writeEvent(raw: ServerResponse, data: string, writeTimeoutMs: number): Promise<void> {
  if (raw.destroyed) throw new ClientLeftError();
  if (raw.write(formatEvent(data))) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = () => reject(new ClientLeftError());
  const timer = setTimeout(() => raw.destroy(), writeTimeoutMs);
  raw.once('drain', resolve).once('close', leave);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    raw.off('drain', resolve).off('close', leave);
  }
}
