// What every request that runs a model passes through: let in or refused, then closed with one row. Interface; the
// ledger implements it, and so does the absence of one.

import type { ErrorCode } from '../../domain/errors.ts';
import type { RequestEnd, Standing, StoredReply } from '../../domain/ledger.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { BilledTokens } from '../../domain/money.ts';
import type { TokenUsage } from '../../domain/usage.ts';
import type { Requester } from '../requester.ts';

export interface MeteredRequest {
  readonly requester: Requester;
  /** With the price in force. */
  readonly model: ModelCard;
  readonly isStreamed: boolean;
  /** Reserved against budget and tokens per minute: exact for local models, an estimate for chat. */
  readonly expected: BilledTokens;
}

/** What is known of a local job before its tokens are counted. */
export interface ExpectedWork {
  readonly requester: Requester;
  readonly model: ModelCard;
  /** From the length of its texts. */
  readonly roughTokens: number;
}

export interface Receipt {
  readonly costPicoUsd: bigint;
  readonly standing: Standing;
}

export interface FinishedWork {
  readonly usage: TokenUsage;
  /** Whether the counts are ours because the upstream told none. */
  readonly isEstimated: boolean;
  /** Until work began (local) or the first byte came (upstream). */
  readonly waitMs: number | null;
  /** What a retry with the same idempotency key is answered; called only if there is such a key. null: too large. */
  readonly reply: (receipt: Pick<Receipt, 'costPicoUsd'>) => StoredReply | null;
  /** Default: `client_left` if the requester's signal is aborted, otherwise `completed`. */
  readonly end?: RequestEnd;
}

/** One accepted request. Exactly one of its methods is called, once. */
export interface OpenRequest {
  readonly standing: Standing;
  /**
   * Bills the work. Resolves when the row is committed: only then may a reply begin.
   * @throws AppError `store_unavailable` when it cannot be committed, unless the configuration lets it be served unbilled
   */
  complete(work: FinishedWork): Promise<Receipt>;
  /**
   * Closes a request that ended without a reply, at the cost of `partial` (default: nothing). What was never taken on
   * (`overloaded`) leaves no row. Does not throw: the error that ended the request is the one to report.
   */
  fail(error: unknown, partial?: Pick<FinishedWork, 'usage' | 'isEstimated' | 'waitMs'>): Promise<void>;
}

/** The reply of the first request with this idempotency key. */
export interface Replay {
  readonly type: 'replayed';
  readonly reply: StoredReply;
}

export type Opening = { readonly type: 'opened'; readonly request: OpenRequest } | Replay;

/** A request whose work runs while the accounting decides. */
export interface EarlyOpening {
  /** Its standing is known when it ends. `complete` throws what `open` would have thrown. */
  readonly request: OpenRequest;
  /** Resolves when the request is let in. Rejects as `open` does. */
  readonly letIn: Promise<void>;
}

/** HTTP statuses, which are not for services to know. */
export interface ReplyStatuses {
  readonly completed: number;
  /** Written where nobody was left to get a reply. */
  readonly clientLeft: number;
  ofError(code: ErrorCode): number;
}

export interface Accounting {
  /**
   * @throws AppError `insufficient_quota`, `rate_limit_exceeded`, `store_unavailable`, `idempotency_key_reused`,
   * `idempotency_key_in_use`; the signal's reason when the client left while waiting
   */
  open(request: MeteredRequest): Promise<Opening>;
  /**
   * The same for what `expectsToAdmit` was true of: the store is told within 50 ms, together with whatever else it is
   * told until then, and a short job costs it one transaction in all. If this process dies before, there is no row.
   */
  openEarly(request: MeteredRequest): EarlyOpening;
  /** Whether `expected` matters for this requester: counting tokens beforehand takes time. */
  needsCount(requester: Requester): boolean;
  /**
   * Whether `open` will most likely let this in, so that the work may begin before it decides. A guess: what is refused
   * all the same is neither answered nor billed. Never true of a request with an idempotency key.
   */
  expectsToAdmit(work: ExpectedWork): boolean;
}
