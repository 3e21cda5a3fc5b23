// The words of the ledger: what is reserved before a request runs, the one row it leaves, and where a key stands.

import { type Budget, byLimitCount, type KeyLimits, type LimitCount } from './api-key.ts';
import type { Price } from './money.ts';
import type { TokenUsage } from './usage.ts';

/** How an accepted request ended. `failed`: our fault or the caller's; `crashed`: the server died before it answered. */
export type RequestEnd = 'completed' | 'client_left' | 'failed' | 'upstream_failed' | 'crashed';

/** What is known of a request when it is accepted. */
export interface AcceptedRequest {
  /** Ours and unique, unlike the request id that a client may choose. */
  readonly id: string;
  /** As in the reply's `x-request-id`. */
  readonly requestId: string;
  readonly keyId: string;
  readonly modelId: string;
  /** Path: `/ai/v1/systemone`. */
  readonly endpoint: string;
  readonly isStreamed: boolean;
  readonly acceptedAtMs: number;
  /** In force when it was accepted; a later price does not touch the row. */
  readonly price: Price;
}

/** What is known of it when it has ended. */
export interface RequestOutcome {
  readonly end: RequestEnd;
  /** HTTP status of the reply; 499 where nobody was left to get one. */
  readonly status: number;
  /** Code of the error; null where there was none. */
  readonly errorCode: string | null;
  readonly usage: TokenUsage;
  /** Whether the counts are ours because the upstream told none. */
  readonly isEstimated: boolean;
  readonly costPicoUsd: bigint;
  /** From acceptance to the end. */
  readonly durationMs: number;
  /** Until work began (local) or the first byte came (upstream); null where it never did. */
  readonly waitMs: number | null;
  /** The name of the upstream that answered, or failed last; null where none was asked. */
  readonly upstream: string | null;
  /** Upstreams that gave no answer, in the order they were asked, each with its `FailureReason`: `a:timeout b:connect`. null: none. */
  readonly upstreamFailures: string | null;
}

/** One row, written once; only one whose answer was never given is overruled. */
export type LedgerRow = AcceptedRequest & RequestOutcome;

/** Where a key stands after a request was let in or refused: what the headers tell. */
export interface Standing extends LimitStandings {
  /** null: no budget. */
  readonly budget: {
    readonly amountPicoUsd: bigint;
    /** Amount less what is spent and reserved; not below 0. */
    readonly remainingPicoUsd: bigint;
    /** null: never. */
    readonly resetsAtMs: number | null;
  } | null;
}

/** By what each limit counts; null: no limit. */
type LimitStandings = Readonly<Record<LimitCount, LimitStanding | null>>;

/** Of a key without budget and limits, or where nobody can say. */
export const NO_STANDING: Standing = { budget: null, ...byLimitCount(() => null) };

export interface LimitStanding {
  readonly limit: number;
  readonly remaining: number;
  /** Of a limit per minute: until all of it is free again, if nothing more is asked. */
  readonly resetMs?: number;
}

/** What must fit for a request to be let in. */
export interface Demand {
  readonly costPicoUsd: bigint;
  readonly tokens: number;
  readonly budget: Budget | null;
  readonly limits: KeyLimits;
}

export type RefusingLimit = 'budget' | LimitCount;

/** A reply that is given again to a retry. */
export interface StoredReply {
  readonly contentType: string;
  readonly body: string;
  /** As sent: model digest, cost. */
  readonly headers: Readonly<Record<string, string>>;
}
