// Writes a stream of chat chunks as server-sent events: head at once, one event per chunk, `[DONE]` where the format has it
// or an error event at the end. Pulls only when the client takes in what it was sent.

import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ChatChunk } from '../domain/chat.ts';
import { ClientLeftError } from './client-left.ts';
import { errorBody, recordError } from './error-reply.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';
/** Reverse proxies would otherwise collect the stream before they pass it on. */
export const EVENT_STREAM_HEADERS = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

const LINE_BREAKS = /[\r\n]+/g;
const DONE = '[DONE]';

/** A whole stream as one text, as it was or would be sent. @param hasDone whether its format ends with `[DONE]` */
export function formatEventStream(chunks: readonly ChatChunk[], hasDone: boolean): string {
  return chunks.map(formatChunk).join('') + (hasDone ? formatEvent(DONE) : '');
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
  async send(chunk: ChatChunk): Promise<void> {
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

  /** @param hasDone whether the format ends with `[DONE]` */
  end(hasDone: boolean): void {
    this.#end(hasDone ? formatEvent(DONE) : '');
  }

  /** An event with the error and no `[DONE]`; nothing where the client has left. */
  breakOff(error: unknown): void {
    if (error instanceof ClientLeftError) return;
    this.#end(formatEvent(errorBody(recordError(error, this.#request))));
  }

  #end(last: string): void {
    const { raw } = this.#reply;
    const timer = setTimeout(() => raw.destroy(), this.#writeTimeoutMs);
    raw.once('close', () => clearTimeout(timer));
    raw.end(last);
  }
}

/** Not before the connection is closed: only then the caller's signal says so too. @throws ClientLeftError */
async function leave(raw: ServerResponse): Promise<never> {
  if (!raw.closed) await new Promise((resolve) => raw.once('close', resolve));
  throw new ClientLeftError();
}

/** Line breaks stand only between the tokens of JSON, never in a string. */
function formatChunk({ json, event }: ChatChunk): string {
  const data = formatEvent(json.replace(LINE_BREAKS, ' '));
  return event === undefined ? data : `event: ${event}\n${data}`;
}

function formatEvent(data: string): string {
  return `data: ${data}\n\n`;
}
