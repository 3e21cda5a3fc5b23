// A chat upstream: any server of the chat-completion format. Interface; HttpChatUpstream implements it.

import type { ModelCard } from '../domain/model-card.ts';

/** The caller's body as sent, plus what we must read. Unknown fields pass through untouched. */
export interface ChatRequest {
  readonly modelId: string;
  readonly stream: boolean;
  /** The client asked for `stream_options.include_usage`. */
  readonly includeUsage: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ChatUsage {
  readonly inputTokens: number;
  /** Includes reasoning tokens, whatever the upstream's habit. */
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly cachedTokens: number;
}

export interface ChatCompletion {
  /** The upstream's body with our model id and normalised usage. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly usage: ChatUsage | undefined;
}

/** One server-sent event for the client: the JSON of a chunk, with our model id. `[DONE]` is not among them. */
export interface ChatChunk {
  readonly json: string;
}

export interface ChatStream {
  /** Ends after the upstream's `[DONE]`; throws an AppError when the upstream breaks off. Backpressure by pulling. */
  readonly chunks: AsyncIterable<ChatChunk>;
  /** Known once `chunks` has ended, however it ended. */
  usage(): ChatUsage | undefined;
}

/**
 * Errors: `upstream_error`, `upstream_timeout`, and `invalid_request` for the upstream's own 4xx that is the caller's
 * mistake. When `signal` is aborted the upstream connection is closed.
 */
export interface ChatUpstream {
  readonly models: readonly ModelCard[];
  complete(request: ChatRequest, signal: AbortSignal): Promise<ChatCompletion>;
  /** Resolves once the upstream has answered with a head, before its first chunk. */
  stream(request: ChatRequest, signal: AbortSignal): Promise<ChatStream>;
  close(): Promise<void>;
}
