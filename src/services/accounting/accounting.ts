// What every request that runs a model passes through: it is booked, let in or refused, then closed with one row. The
// interface; the ledger implements it, and so does the absence of one.

import type { FailedUpstream } from '../../domain/errors.ts';
import type { RequestEnd, Standing, StoredReply } from '../../domain/ledger.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { BilledTokens } from '../../domain/money.ts';
import type { TokenUsage } from '../../domain/usage.ts';
import type { AuthenticatedCaller } from '../caller.ts';

/** What is asked for when a request is booked. */
export interface NewBooking {
  readonly caller: AuthenticatedCaller;
  /** With the price in force. */
  readonly model: ModelCard;
  readonly isStreamed: boolean;
  /** Path. Default: that of the model's type. */
  readonly endpoint?: string;
  /** Reserved against budget and tokens per minute: exact for local models, an estimate for chat. */
  readonly expected: BilledTokens;
  /**
   * Whether its work runs already, which only `expectsRoom` may have allowed: the store is then told within 50 ms, together
   * with whatever else it is told until then, and a short job costs it one transaction in all. If this process dies before,
   * there is no row. Default: no.
   */
  readonly hasBegun?: boolean;
}

export interface LetIn {
  readonly type: 'let-in';
  /** Where the key stands with this request among those that run. */
  readonly standing: Standing;
}

/** The reply of the first request with this idempotency key. */
export interface Replay {
  readonly type: 'replayed';
  readonly reply: StoredReply;
}

export interface Receipt {
  readonly costPicoUsd: bigint;
  readonly standing: Standing;
}

/** What a request used, whole or in part. */
export interface UsedWork {
  readonly usage: TokenUsage;
  /** Whether the counts are ours because the upstream told none. */
  readonly isEstimated: boolean;
  /** Until work began (local) or the first byte came (upstream). */
  readonly waitMs: number | null;
  /** The name of the upstream that answered; null: none did. Default: null. */
  readonly upstream?: string | null;
  /** Those that gave no answer, in the order in which they were asked. Default: none. */
  readonly failedUpstreams?: readonly FailedUpstream[];
}

export interface FinishedWork extends UsedWork {
  /** What a retry with the same idempotency key is answered; called only if there is such a key. null: too large. */
  readonly reply: (receipt: Pick<Receipt, 'costPicoUsd'>) => StoredReply | null;
  /** Default: `client_left` if the caller's signal is aborted, otherwise `completed`. */
  readonly end?: RequestEnd;
}

/** One request in the books. Once it is let in, or where its work has begun, exactly one of its methods is called, once. */
export interface Booking {
  /**
   * Rejects with AppError `insufficient_quota`, `rate_limit_exceeded`, `store_unavailable`, `idempotency_key_reused`,
   * `idempotency_key_in_use`; with the signal's reason when the client left while waiting.
   */
  readonly letIn: Promise<LetIn | Replay>;
  /**
   * Bills the work. Resolves when the row is committed: only then may a reply begin.
   * @throws what `letIn` rejects with; AppError `store_unavailable` when the row cannot be committed, unless the
   * configuration lets it be served unbilled
   */
  complete(work: FinishedWork): Promise<Receipt>;
  /**
   * Closes a request that ended without a reply, at the cost of `partial` (default: nothing). What was never taken on
   * (`overloaded`) leaves no row. Does not throw: the error that ended the request is the one to report.
   */
  fail(error: unknown, partial?: UsedWork): Promise<void>;
}

export interface Accounting {
  book(wanted: NewBooking): Booking;
  /** Whether `expected` matters for this caller: counting tokens beforehand takes time. */
  needsCount(caller: AuthenticatedCaller): boolean;
  /**
   * Whether this will most likely be let in, so that its work may begin before it is booked. A guess: what is refused all
   * the same is neither answered nor billed. Never true of a request with an idempotency key.
   * @param wanted what is expected may be a guess too
   */
  expectsRoom(wanted: NewBooking): boolean;
}
