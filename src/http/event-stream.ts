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

interface JsonChunk {
  readonly json: string;
}

/** A whole stream as one text, as it was or would be sent. */
export function formatEventStream(chunks: readonly JsonChunk[]): string {
  return chunks.map(formatChunk).join('') + formatEvent(DONE);
}

/** One reply. A client that takes in nothing for `writeTimeoutMs` is disconnected. */
export class EventStream {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #writeTimeoutMs: number;

  constructor(request: FastifyRequest, reply: FastifyReply, writeTimeoutMs: number) {
    this.#request = request;
    this.#reply = reply;
    this.#writeTimeoutMs = writeTimeoutMs;
  }

  /** Takes the reply out of the framework's hands: its own streams send no head before the first byte. */
  begin(): void {
    const { raw } = this.#reply;
    const headers = this.#reply.headers({ ...EVENT_STREAM_HEADERS, 'content-type': EVENT_STREAM_TYPE }).getHeaders();
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) raw.setHeader(name, value);
    }
    // Not before: a failure up to here is the error handler's.
    this.#reply.hijack();
    raw.flushHeaders();
  }

  /** Resolves when there is room for more. @throws ClientLeftError when the client has left or stalls */
  async send(chunk: JsonChunk): Promise<void> {
    const { raw } = this.#reply;
    if (raw.destroyed) return await leave(raw);
    if (raw.write(formatChunk(chunk))) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => raw.destroy(), this.#writeTimeoutMs);
    raw.once('drain', resolve).once('close', resolve);
    await promise;
    clearTimeout(timer);
    raw.off('drain', resolve).off('close', resolve);
    if (raw.destroyed) await leave(raw);
  }

  end(): void {
    this.#end(DONE);
  }

  /** An event with the error and no `[DONE]`; nothing where the client has left. */
  breakOff(error: unknown): void {
    if (error instanceof ClientLeftError) return;
    this.#end(errorBody(recordError(error, this.#request)));
  }

  #end(data: string): void {
    const { raw } = this.#reply;
    const timer = setTimeout(() => raw.destroy(), this.#writeTimeoutMs);
    raw.once('close', () => clearTimeout(timer));
    raw.end(formatEvent(data));
  }
}

/** Not before the connection is closed: only then the caller's signal says so too. @throws ClientLeftError */
async function leave(raw: ServerResponse): Promise<never> {
  if (!raw.closed) await new Promise((resolve) => raw.once('close', resolve));
  throw new ClientLeftError();
}

/** Line breaks stand only between the tokens of JSON, never in a string. */
function formatChunk({ json }: JsonChunk): string {
  return formatEvent(json.replace(LINE_BREAKS, ' '));
}

function formatEvent(data: string): string {
  return `data: ${data}\n\n`;
}
