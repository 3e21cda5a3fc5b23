// One chat model at one upstream, over HTTP/1.1: sends the request, times its phases, cancels it, reads the reply.
// What a body means is upstream-body.ts's and reply-translator.ts's, whose fault a failure is upstream-failure.ts's.

import type { Dispatcher } from 'undici';
import type { ChatChunk, ChatFormat, ChatRequest } from '../domain/chat.ts';
import { AppError } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import type { BilledTokens } from '../domain/money.ts';
import type { CallWatcher, ChatCompletion, ChatStream, ChatUpstream } from './chat-upstream.ts';
import { parseObject } from './json-object.ts';
import { Payload } from './payload.ts';
import { PhaseTimers } from './phase-timers.ts';
import type { Translator } from './reply-translator.ts';
import { readEvents } from './sse.ts';
import { membersOf, refuseDuplicates, upstreamBody } from './upstream-body.ts';
import { UpstreamConnections } from './upstream-connections.ts';
import { brokenByUpstream, refusedByUpstream, reportedError, STREAM_ADVICE } from './upstream-failure.ts';
import { UpstreamFault } from './upstream-fault.ts';
import { UPSTREAM_FORMATS } from './upstream-formats.ts';
import { type ChatUpstreamOptions, cardOfUpstream } from './upstream-options.ts';

const BYTES_PER_MIB = 1024 * 1024;
const MAX_REPLY_BYTES = 64 * BYTES_PER_MIB;
const MAX_EVENT_LENGTH = 16 * BYTES_PER_MIB;
/** Enough of a refusal to find its message in. */
const MAX_REFUSAL_BYTES = 64 * 1024;
/** After `[DONE]` only the end of the body is left; reading it keeps the connection for the next request. */
const END_OF_BODY_MS = 1000;
const BUSY_RETRY_AFTER_MS = 1000;
const SAID_NOTHING = 'The upstream sent nothing in time.';
const UNWATCHED: CallWatcher = {
  onAsked: () => undefined,
  onSent: () => undefined,
  onBytes: () => undefined,
  onFailed: () => undefined,
};

/** A request under way: counted and timed until it is ended. */
interface RunningCall {
  readonly isStreamed: boolean;
  readonly clientSignal: AbortSignal;
  readonly timers: PhaseTimers;
  readonly watcher: CallWatcher;
  readonly sentAlong: Readonly<Record<string, string>> | undefined;
  /** It has a connection, and may be at work there. */
  wasSent: boolean;
  /** May be called twice. */
  end(): void;
}

export class HttpChatUpstream implements ChatUpstream {
  readonly models: readonly ModelCard[];
  readonly #options: ChatUpstreamOptions;
  readonly #connections: UpstreamConnections;
  /** Without the path of a format. */
  readonly #base: URL;
  readonly #running = new Set<RunningCall>();
  /** By the bodies of requests that were asked about: long prompts are measured once. */
  readonly #inputEstimates = new WeakMap<ChatRequest['body'], number>();

  /** @throws TypeError when the base URL is none */
  constructor(options: ChatUpstreamOptions) {
    this.#base = new URL(options.baseUrl);
    this.models = [cardOfUpstream(options)];
    this.#options = options;
    this.#connections = new UpstreamConnections(this.#base.origin, {
      connectTimeoutMs: options.timeouts.connectMs,
      maxConnections: options.maxConcurrentRequests,
    });
  }

  takes(format: ChatFormat): boolean {
    return this.#options.formats.includes(format);
  }

  expect(request: ChatRequest): BilledTokens {
    const format = UPSTREAM_FORMATS[request.format];
    refuseDuplicates(membersOf(request), format.readMembers);
    format.refuse(request.body);
    const expected = format.expect(request.body, this.#options);
    this.#inputEstimates.set(request.body, expected.inputTokens);
    return expected;
  }

  async complete(
    request: ChatRequest,
    signal: AbortSignal,
    watcher = UNWATCHED,
    firstByteMs?: number,
  ): Promise<ChatCompletion> {
    const payload = new Payload(upstreamBody(request, this.#options), () => request.letGo?.());
    const translator = this.#translatorOf(request);
    const call = this.#begin(signal, watcher, false);
    const { timers } = call;
    try {
      if (firstByteMs !== undefined) timers.startPhase(firstByteMs, SAID_NOTHING);
      const reply = await this.#post(payload, request.format, call);
      watcher.onBytes();
      const { text, isWhole } = await readText(reply, MAX_REPLY_BYTES, () => timers.endPhase());
      if (!isWhole) throw new UpstreamFault('broken_reply', 'The answer of the upstream is too long.');
      const bodyText = translator.translateWhole(text);
      this.#options.watcher?.answered();
      return { bodyText, ...translator.tokens() };
    } catch (error) {
      throw this.#told(failureOf(error, call), call);
    } finally {
      call.end();
    }
  }

  async stream(
    request: ChatRequest,
    signal: AbortSignal,
    watcher = UNWATCHED,
    firstByteMs = this.#options.timeouts.firstByteMs,
  ): Promise<ChatStream> {
    const payload = new Payload(upstreamBody(request, this.#options), () => request.letGo?.());
    const translator = this.#translatorOf(request);
    const call = this.#begin(signal, watcher, true);
    try {
      call.timers.startPhase(firstByteMs, SAID_NOTHING);
      const reply = await this.#post(payload, request.format, call);
      reply.body.once('close', () => call.end());
      if (isJson(reply)) throw await notStreamed(reply);
      return { chunks: this.#readChunks(reply, translator, call), tokens: () => translator.tokens() };
    } catch (error) {
      call.end();
      throw this.#told(failureOf(error, call), call);
    }
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  #translatorOf(request: ChatRequest): Translator {
    const format = UPSTREAM_FORMATS[request.format];
    const inputEstimate = this.#inputEstimates.get(request.body) ?? format.estimate(request.body);
    return format.translator(request, { ...this.#options, inputEstimate });
  }

  #begin(clientSignal: AbortSignal, watcher: CallWatcher, isStreamed: boolean): RunningCall {
    clientSignal.throwIfAborted();
    const { name, whenClientLeaves } = this.#options;
    const sentAlong = watcher.onAsked({ name, whenClientLeaves });
    this.#options.watcher?.called();
    if (this.#running.size >= this.#options.maxConcurrentRequests) {
      const message = 'The upstream has as many requests at once as it is allowed.';
      const busy = new UpstreamFault('busy', message, { retryAfterMs: BUSY_RETRY_AFTER_MS });
      throw this.#told(busy, { clientSignal, watcher });
    }
    const { totalMs, streamTotalMs } = this.#options.timeouts;
    const tooLong = 'The upstream took too long for the whole request.';
    const timers = isStreamed
      ? new PhaseTimers(clientSignal, streamTotalMs, tooLong)
      : new PhaseTimers(clientSignal, totalMs, `${tooLong} ${STREAM_ADVICE}`);
    const call: RunningCall = {
      isStreamed,
      clientSignal,
      timers,
      watcher,
      sentAlong,
      wasSent: false,
      end: () => {
        timers.stop();
        this.#running.delete(call);
      },
    };
    this.#running.add(call);
    return call;
  }

  /** A failure of the upstream is counted, and says which one it was. The caller's mistake is none, nor that its time is over. */
  #told(error: unknown, { clientSignal, watcher }: Pick<RunningCall, 'clientSignal' | 'watcher'>): unknown {
    if (!(error instanceof UpstreamFault) || (clientSignal.aborted && error === clientSignal.reason)) return error;
    const { name, modelId } = this.#options;
    this.#options.watcher?.failed(error.code, error.reason);
    error.upstream = { name, modelId, reason: error.reason };
    watcher.onFailed(error);
    return error;
  }

  /** @throws AppError when the status is not 2xx; whatever the HTTP client throws; the signal's reason */
  async #post(payload: Payload, format: ChatFormat, call: RunningCall): Promise<Dispatcher.ResponseData> {
    const { apiKey } = this.#options;
    const { isStreamed, timers, watcher, sentAlong } = call;
    const headers = {
      ...sentAlong,
      'content-type': 'application/json',
      'user-agent': 'umpire',
      accept: isStreamed ? 'text/event-stream' : 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    };
    const { signal } = timers;
    const onSent = () => {
      call.wasSent = true;
      watcher.onSent();
    };
    const { pathname, search } = this.#base;
    const path = `${pathname.replace(/\/+$/, '')}${UPSTREAM_FORMATS[format].path}${search}`;
    const reply = await this.#connections.post({ path, headers, payload, signal, onSent });
    // Errors are read where the body is; one that comes after the reading has ended must not end the process.
    reply.body.on('error', () => {});
    const { statusCode: status } = reply;
    if (status >= 200 && status < 300) return reply;
    const { text } = await readText(reply, MAX_REFUSAL_BYTES);
    throw refusedByUpstream({ status, headers: reply.headers, isStreamed, text }, this.#options);
  }

  async *#readChunks(
    reply: Dispatcher.ResponseData,
    translator: Translator,
    call: RunningCall,
  ): AsyncGenerator<ChatChunk> {
    try {
      for await (const event of readEvents(this.#timedBytes(reply, call), MAX_EVENT_LENGTH)) {
        const chunk = translator.translateEvent(event);
        if (chunk !== undefined) yield chunk;
        if (translator.isOver) break;
      }
      if (!translator.isOver && !translator.isWhole) {
        throw new UpstreamFault('broken_reply', 'The upstream broke off before its answer was complete.');
      }
      this.#options.watcher?.answered();
      const late = translator.lateChunk();
      if (late !== undefined) yield late;
    } catch (error) {
      throw this.#told(failureOf(error, call), call);
    } finally {
      if (translator.isOver) readToEnd(reply);
      else reply.body.destroy();
    }
  }

  /** The idle clock runs only while bytes are waited for, so that a slow client is never the upstream's silence. */
  async *#timedBytes(reply: Dispatcher.ResponseData, { timers, watcher }: RunningCall): AsyncGenerator<Uint8Array> {
    for await (const bytes of reply.body.iterator({ destroyOnReturn: false })) {
      timers.endPhase();
      watcher.onBytes();
      yield bytes;
      timers.startPhase(this.#options.timeouts.idleMs, 'The upstream fell silent in mid-stream.');
    }
    timers.endPhase();
  }
}

function failureOf(error: unknown, { timers: { signal }, wasSent }: RunningCall): unknown {
  if (error instanceof AppError) return error;
  return signal.aborted ? signal.reason : brokenByUpstream(error, wasSent);
}

function isJson({ headers }: Dispatcher.ResponseData): boolean {
  return String(headers['content-type']).startsWith('application/json');
}

async function notStreamed(reply: Dispatcher.ResponseData): Promise<UpstreamFault> {
  const { text } = await readText(reply, MAX_REFUSAL_BYTES);
  const error = parseObject(text)?.['error'];
  if (error !== undefined && error !== null) return reportedError(error);
  return new UpstreamFault('broken_reply', 'The upstream was asked for a stream and sent none.');
}

/** The body as text, cut at the limit; what is left of a longer one is not read, its connection is closed. */
async function readText(
  { body }: Dispatcher.ResponseData,
  maxBytes: number,
  onBytes: () => void = () => undefined,
): Promise<{ text: string; isWhole: boolean }> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    onBytes();
    text += decoder.decode(chunk, { stream: true });
    bytes += chunk.length;
    if (bytes > maxBytes) return { text, isWhole: false };
  }
  return { text: text + decoder.decode(), isWhole: true };
}

function readToEnd({ body }: Dispatcher.ResponseData): void {
  const timer = setTimeout(() => body.destroy(), END_OF_BODY_MS);
  body.once('close', () => clearTimeout(timer));
  body.resume();
}
