// Everything one chat upstream is told at the start. The configuration's `upstreams[]` has the same shape; who reads the
// key out of the environment is not our business.

import type { ChatFormat } from '../domain/chat.ts';
import type { ErrorCode, FailureReason } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import type { Price } from '../domain/money.ts';
import type { LeavingPolicy } from './chat-upstream.ts';

export interface UpstreamTimeouts {
  /** TCP and TLS, per attempt. */
  readonly connectMs: number;
  /** Streaming only: from the request until the first byte of the stream's body. */
  readonly firstByteMs: number;
  /** Streaming only: longest silence between two reads. Comments count as a sign of life; a slow client does not. */
  readonly idleMs: number;
  /**
   * Not streaming: from the request until the first byte of the answer, as long as another upstream can be asked after this
   * one. undefined: half of what is left of the time for all.
   */
  readonly wholeFirstByteMs?: number | undefined;
  /** Not streaming: the whole request, connecting included. */
  readonly totalMs: number;
  /** Streaming: the whole stream, time the client takes to read it included. */
  readonly streamTotalMs: number;
}

/** `auto` is the rule of normaliseUsage: apart when the total says so or when they could not be included. */
export type ReasoningUsage = 'included' | 'apart' | 'auto';

export interface ReasoningOptions {
  /** Whether the upstream's `completion_tokens` has the reasoning tokens in it. */
  readonly usage: ReasoningUsage;
  /** Added to the caller's `max_tokens`; 0 where the upstream's own cap leaves reasoning out. */
  readonly allowanceTokens: number;
  /** The field the upstream wants the caller's `max_tokens` in. */
  readonly capField: 'max_tokens' | 'max_completion_tokens';
}

/** Is told of every call to a model of an upstream, and of those that are answered there to the end, or fail there. */
export interface UpstreamWatcher {
  called(): void;
  answered(): void;
  /** @param code `upstream_error`, `upstream_timeout` or `overloaded` */
  failed(code: ErrorCode, reason: FailureReason): void;
}

export interface ChatUpstreamOptions {
  /** The name in the configuration: for logs and metrics. */
  readonly name: string;
  /** Our id of the model: what clients send and are sent. */
  readonly modelId: string;
  readonly description: string;
  readonly ownedBy: string;
  /** ISO date, `2026-11-21`. */
  readonly releaseDate: string;
  readonly price: Price;
  /** Usually ends in `/v1`; `/chat/completions` is appended. A query string is kept. */
  readonly baseUrl: string;
  /** The upstream's own name of the model. */
  readonly upstreamModel: string;
  /** Sent as a bearer token; undefined: no Authorization header. */
  readonly apiKey: string | undefined;
  readonly timeouts: UpstreamTimeouts;
  /** Those it serves. */
  readonly formats: readonly ChatFormat[];
  /** Its share of the calls of a model that several upstreams have; undefined: they are asked in their order. */
  readonly weight: number | undefined;
  /** When it is left out for a while, where another upstream has the model. */
  readonly breaker: { readonly failures: number; readonly pauseMs: number };
  /** Whether the upstream may be sent `stream_options`; if not, it is trusted to tell usage by itself. */
  readonly takesStreamOptions: boolean;
  /** One connection each; more are refused with `overloaded` instead of waiting unseen. */
  readonly maxConcurrentRequests: number;
  /** undefined: not a reasoning model. */
  readonly reasoning: ReasoningOptions | undefined;
  /** Output that is reserved where the caller sets no limit, for each choice. */
  readonly reserveOutputTokens: number;
  readonly whenClientLeaves: LeavingPolicy;
  readonly watcher?: UpstreamWatcher;
}

/** What the outside may know of the model. */
export function cardOfUpstream({ modelId, description, ownedBy, releaseDate, price }: ChatUpstreamOptions): ModelCard {
  return { id: modelId, type: 'llm', description, ownedBy, releaseDate, price };
}
