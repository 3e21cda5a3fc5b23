// A chat upstream: any server of the chat-completion format. Interface; HttpChatUpstream implements it.

import type { JsonMember } from '../domain/json.ts';
import type { ModelCard } from '../domain/model-card.ts';
import type { BilledTokens } from '../domain/money.ts';
import type { TokenUsage } from '../domain/usage.ts';

/** The caller's body as sent, plus what had to be read of it. Text and value are empty once the body was let go. */
export interface ChatRequest {
  readonly modelId: string;
  readonly stream: boolean;
  /** The client asked for `stream_options.include_usage`. */
  readonly includeUsage: boolean;
  /** The text of a JSON object. A text, because parsing and printing would change numbers and drop duplicates. */
  readonly bodyText: string;
  /** Of the text, where whoever parsed it listed them. */
  readonly bodyMembers?: readonly JsonMember[];
  /** The same, parsed. */
  readonly body: Readonly<Record<string, unknown>>;
  /** To be called when the body has gone out: the answer may take its time, and need not keep it in memory. */
  letGo?(): void;
}

/**
 * What becomes of a call whose client has left. `estimate`: cut, billed by what it told or by what was sent. `drain`: read
 * to its end, billed by what it tells. `free`: cut, not billed.
 */
export type LeavingPolicy = 'estimate' | 'drain' | 'free';

/** Is told how far a call has come. */
export interface CallWatcher {
  /** The request goes out to the upstream; from here on it may work, and charge. */
  onSent(): void;
  /** Something of the answer has come. Not streaming: the head. Streaming: what follows it, every time. */
  onBytes(): void;
}

/** `outputTokens` include reasoning tokens, whatever the upstream's habit. */
export type ChatUsage = TokenUsage;

/** What an answer, or the part of it that has come, used. */
export interface AnswerTokens {
  /** undefined: the upstream told none, or none that can be believed. */
  readonly usage: ChatUsage | undefined;
  /** Estimated from the texts that came. */
  readonly outputEstimate: number;
}

export interface ChatCompletion extends AnswerTokens {
  /** The upstream's body with our model id and normalised usage. */
  readonly bodyText: string;
}

/** One server-sent event for the client: the JSON of a chunk, with our model id. `[DONE]` is not among them. */
export interface ChatChunk {
  readonly json: string;
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
  readonly whenClientLeaves: LeavingPolicy;
  /**
   * To be asked before the others: what the call will use at most (output) and by estimate (input).
   * @throws AppError `invalid_request` when the request cannot be passed on as it is
   */
  expect(request: ChatRequest): BilledTokens;
  complete(request: ChatRequest, signal: AbortSignal, watcher?: CallWatcher): Promise<ChatCompletion>;
  /** Resolves once the upstream has answered with a head, before its first chunk. */
  stream(request: ChatRequest, signal: AbortSignal, watcher?: CallWatcher): Promise<ChatStream>;
  /** Refuses new requests and waits for the accepted ones. */
  close(): Promise<void>;
}
