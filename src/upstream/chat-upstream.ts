// A chat upstream: any server of the chat-completion format. Interface; HttpChatUpstream implements it.

import type { ModelCard } from '../domain/model-card.ts';
import type { TokenUsage } from '../domain/usage.ts';

/** The caller's body as sent, plus what had to be read of it. */
export interface ChatRequest {
  readonly modelId: string;
  readonly stream: boolean;
  /** The client asked for `stream_options.include_usage`. */
  readonly includeUsage: boolean;
  /** The text of a JSON object. A text, because parsing and printing would change numbers and drop duplicates. */
  readonly bodyText: string;
}

/** `outputTokens` include reasoning tokens, whatever the upstream's habit. */
export type ChatUsage = TokenUsage;

export interface ChatCompletion {
  /** The upstream's body with our model id and normalised usage. */
  readonly bodyText: string;
  /** undefined: the upstream told none. */
  readonly usage: ChatUsage | undefined;
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
  /** The last usage the upstream told so far; complete once `chunks` has ended. */
  usage(): ChatUsage | undefined;
}

/**
 * Errors: `upstream_error`, `upstream_timeout`, `overloaded`, and for the upstream's own 4xx that is the caller's
 * mistake `invalid_request`, `context_length_exceeded` or `request_too_large`. When `signal` is aborted the upstream
 * connection is closed and the call rejects with the signal's reason.
 */
export interface ChatUpstream {
  readonly models: readonly ModelCard[];
  complete(request: ChatRequest, signal: AbortSignal): Promise<ChatCompletion>;
  /** Resolves once the upstream has answered with a head, before its first chunk. */
  stream(request: ChatRequest, signal: AbortSignal): Promise<ChatStream>;
  /** Refuses new requests and waits for the accepted ones. */
  close(): Promise<void>;
}
