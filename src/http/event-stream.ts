// Writes a stream of chat chunks as server-sent events: head at once, one event per chunk, `[DONE]` or an error event at
// the end. Pulls only when the client takes in what it was sent.

import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClientLeftError } from './client-left.ts';
import { errorBody, recordError } from './error-reply.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';
/** Reverse proxies would otherwise collect the stream before they pass it on. */
export const EVENT_STREAM_HEADERS = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

const LINE_BREAKS = /[\r\n]+/g;
const DONE = '[DONE]';

interface Chunk {
  readonly json: string;
}

/** A whole stream as one text, as it was or would be sent. */
export function formatEventStream(chunks: readonly Chunk[]): string {
  return chunks.map(formatChunk).join('') + formatEvent(DONE);
}

/**
 * Takes the reply out of the framework's hands: its own streams send no head before the first byte. Resolves when the end
 * is written, or when the client has left.
 * @param chunks when they throw, the client gets an error event and no `[DONE]`
 * @param writeTimeoutMs a client that takes in nothing for that long is disconnected
 */
export async function sendEventStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { chunks, writeTimeoutMs }: { readonly chunks: AsyncIterable<Chunk>; readonly writeTimeoutMs: number },
): Promise<void> {
  const { raw } = reply;
  sendHead(reply);
  try {
    for await (const chunk of chunks) await write(raw, formatChunk(chunk), writeTimeoutMs);
    end(raw, DONE, writeTimeoutMs);
  } catch (error) {
    if (error instanceof ClientLeftError) await closed(raw);
    else end(raw, errorBody(recordError(error, request)), writeTimeoutMs);
  }
}

function sendHead(reply: FastifyReply): void {
  const { raw } = reply;
  const headers = reply.headers({ ...EVENT_STREAM_HEADERS, 'content-type': EVENT_STREAM_TYPE }).getHeaders();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) raw.setHeader(name, value);
  }
  // Not before: a failure up to here is the error handler's.
  reply.hijack();
  raw.flushHeaders();
}

function end(raw: ServerResponse, data: string, writeTimeoutMs: number): void {
  const timer = setTimeout(() => raw.destroy(), writeTimeoutMs);
  raw.once('close', () => clearTimeout(timer));
  raw.end(formatEvent(data));
}

/** Line breaks stand only between the tokens of JSON, never in a string. */
function formatChunk({ json }: Chunk): string {
  return formatEvent(json.replace(LINE_BREAKS, ' '));
}

function formatEvent(data: string): string {
  return `data: ${data}\n\n`;
}

/** Resolves when there is room for more. @throws ClientLeftError when the client has left or stalls */
async function write(raw: ServerResponse, text: string, writeTimeoutMs: number): Promise<void> {
  if (raw.destroyed) throw new ClientLeftError();
  if (raw.write(text)) return;
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

/** Only then the requester's signal says so too. */
async function closed(raw: ServerResponse): Promise<void> {
  if (!raw.closed) await new Promise((resolve) => raw.once('close', resolve));
}
