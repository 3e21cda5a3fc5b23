// A chat upstream: any server of the chat-completion format, or several that stand in for each other. Interface;
// HttpChatUpstream and FailoverUpstream implement it.

import type { ChatChunk, ChatFormat, ChatRequest } from '../domain/chat.ts';
import type { AppError } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import type { BilledTokens } from '../domain/money.ts';
import type { TokenUsage } from '../domain/usage.ts';

/**
 * What becomes of a call whose client has left. `estimate`: cut, billed by what it told or by what was sent. `drain`: read
 * to its end, billed by what it tells. `free`: cut, not billed.
 */
export type LeavingPolicy = 'estimate' | 'drain' | 'free';

/** The one that a call went to. */
export interface AskedUpstream {
  /** The name in the configuration. */
  readonly name: string;
  readonly whenClientLeaves: LeavingPolicy;
}

/** Is told how far a call has come. */
export interface CallWatcher {
  /** When the caller's own time for an answer, or for the head of a stream, is over, by the process's clock. Default: never. */
  readonly endMs?: number | undefined;
  /**
   * Before anything else of it; again where the call goes on to another upstream, for which nothing holds of what was told.
   * @returns headers that the upstream is sent beside ours, those of a trace
   */
  onAsked(upstream: AskedUpstream): Readonly<Record<string, string>> | undefined;
  /** The request goes out to the upstream; from here on it may work, and charge. */
  onSent(): void;
  /** Something of the answer has come. Not streaming: the head. Streaming: what follows it, every time. */
  onBytes(): void;
  /** The one that was asked gave no answer: `error.upstream` says why. Another may be asked after it. */
  onFailed(error: AppError): void;
}

/** What an answer, or the part of it that has come, used. */
export interface AnswerTokens {
  /** undefined: the upstream told none, or none that can be believed. */
  readonly usage: TokenUsage | undefined;
  /** Estimated from the texts that came. */
  readonly outputEstimate: number;
}

export interface ChatCompletion extends AnswerTokens {
  /** The upstream's body with our model id and normalised usage. */
  readonly bodyText: string;
}

export interface ChatStream {
  /**
   * Ends after the upstream's `[DONE]`; throws an AppError when the upstream breaks off. Backpressure by pulling. Who
   * has a stream either reads it to its end, leaves the loop, or aborts the request's signal.
   */
  readonly chunks: AsyncIterable<ChatChunk>;
  /** Of what has come so far, with the last usage told; complete once `chunks` has ended. */
  tokens(): AnswerTokens;
}

/**
 * Errors: `upstream_error`, `upstream_timeout`, `overloaded`, and for the upstream's own 4xx that is the caller's
 * mistake `invalid_request`, `context_length_exceeded` or `request_too_large`. When `signal` is aborted the upstream
 * connection is closed and the call rejects with the signal's reason.
 */
export interface ChatUpstream {
  readonly models: readonly ModelCard[];
  takes(format: ChatFormat): boolean;
  /**
   * To be asked before the others: what the call will use at most (output) and by estimate (input).
   * @throws AppError `invalid_request` when the request cannot be passed on as it is
   */
  expect(request: ChatRequest): BilledTokens;
  /** @param firstByteMs until the first byte of the answer's body; default: only the whole has a limit */
  complete(
    request: ChatRequest,
    signal: AbortSignal,
    watcher?: CallWatcher,
    firstByteMs?: number,
  ): Promise<ChatCompletion>;
  /**
   * Resolves once the upstream has answered with a head, before its first chunk.
   * @param firstByteMs until the first byte of the answer's body; default: the upstream's own limit
   */
  stream(request: ChatRequest, signal: AbortSignal, watcher?: CallWatcher, firstByteMs?: number): Promise<ChatStream>;
  /** Refuses new requests and waits for the accepted ones. */
  close(): Promise<void>;
}
