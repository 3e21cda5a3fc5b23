// What the server keeps, as interfaces. One suite of tests runs over every implementation. Every method may fail with a
// StoreUnavailableError; nothing of a failed call is kept, unless the store did as it was told and its word of it was lost.

import type { KeyStanding } from '../domain/account.ts';
import type { ApiKey, Budget, KeyLimits, KeyScope } from '../domain/api-key.ts';
import type { AuditRecord, StoredAuditRecord } from '../domain/audit.ts';
import type {
  AcceptedRequest,
  Demand,
  LedgerRow,
  RefusingLimit,
  RequestOutcome,
  Standing,
  StoredReply,
} from '../domain/ledger.ts';
import type { DatedPrice } from '../domain/money.ts';
import type {
  EndedPlace,
  LatencyGroup,
  LatencyQuery,
  UsageDimension,
  UsageFilter,
  UsageGroup,
} from '../domain/usage-report.ts';

/** A secret of a key. After a rotation the older one stays valid until it expires. */
export interface KeySecret {
  /** SHA-256 of the secret, lower-case hex. Secrets have 190 bits of entropy, so no slow hash is needed. */
  readonly hash: string;
  readonly visiblePrefix: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
}

/** What may be changed of a key; absent: stays. */
export interface KeyChange {
  readonly name?: string;
  readonly models?: readonly string[] | null;
  readonly scopes?: readonly KeyScope[];
  readonly budget?: Budget | null;
  readonly limits?: KeyLimits;
  readonly expiresAtMs?: number | null;
  readonly disabledAtMs?: number | null;
}

export interface KeyStore {
  insert(key: ApiKey, secret: KeySecret, audit: AuditRecord): Promise<void>;
  findByHash(secretHash: string): Promise<{ readonly key: ApiKey; readonly secret: KeySecret } | undefined>;
  /** Hashes of all secrets, whatever became of their keys, ordered. @param page `after`: the last one of the page before */
  listSecretHashes(page: {
    readonly createdFromMs: number;
    readonly after: string | undefined;
    readonly limit: number;
  }): Promise<readonly string[]>;
  findById(id: string): Promise<ApiKey | undefined>;
  /** Oldest first. @param after id of the last key of the page before */
  list(page?: { readonly after: string | undefined; readonly limit: number }): Promise<readonly ApiKey[]>;
  /** @returns the key as it is now; undefined when there is no such key */
  update(id: string, change: KeyChange, audit: AuditRecord): Promise<ApiKey | undefined>;
  /** Revoking twice keeps the first time. @returns the key as it is now; undefined when there is no such key */
  revoke(id: string, audit: AuditRecord): Promise<ApiKey | undefined>;
  /** Adds a secret; those before it expire at `overlapEndsAtMs` if not earlier. @returns undefined: no such key, or revoked */
  rotate(id: string, rotation: KeyRotation): Promise<ApiKey | undefined>;
  count(): Promise<number>;
}

export interface KeyRotation {
  readonly secret: KeySecret;
  readonly overlapEndsAtMs: number;
  readonly audit: AuditRecord;
}

export interface PriceStore {
  /** Prices are never changed: a second one for the same model and moment is refused. @returns false: there is one */
  insert(price: DatedPrice, audit: AuditRecord): Promise<boolean>;
  /** All of them, by model, then by time: the history, and what is still to come. */
  list(): Promise<readonly DatedPrice[]>;
}

export interface AuditStore {
  append(record: AuditRecord): Promise<void>;
  /** Newest first. @param before id of the last record of the page before */
  list(page: { readonly before: number | undefined; readonly limit: number }): Promise<readonly StoredAuditRecord[]>;
}

/** What makes a retry the same request. */
export interface IdempotencyClaim {
  /** SHA-256 of the client's key, hex; with the API key's id it is the identity. */
  readonly keyHash: string;
  /** SHA-256 of what was asked, hex: the same key with another request is a mistake. */
  readonly fingerprint: string;
  readonly expiresAtMs: number;
}

export interface Reservation extends AcceptedRequest {
  /** The process that answers it; its death releases the reservation. */
  readonly instanceId: string;
  readonly demand: Demand;
  readonly idempotency: IdempotencyClaim | null;
}

export type ReserveOutcome =
  | { readonly type: 'reserved'; readonly standing: Standing }
  | {
      readonly type: 'refused';
      readonly reason: RefusingLimit;
      readonly standing: Standing;
      /** When the same request may pass; null: not by waiting. */
      readonly retryAfterMs: number | null;
    }
  | { readonly type: 'mismatch' }
  | { readonly type: 'in-progress' }
  /** `reply` is null where it was too large to be kept. */
  | { readonly type: 'replay'; readonly reply: StoredReply | null };

export interface Settlement {
  readonly id: string;
  readonly outcome: RequestOutcome;
  /** Kept for retries if the request had an idempotency claim; absent: the claim is given up and a retry runs anew. */
  readonly reply?: StoredReply | null;
  /**
   * The reply that an earlier settlement of this id stood for was never given, and whether that one was committed nobody
   * knows: this one takes its place, unless a retry was given the reply since.
   */
  readonly overrules?: { readonly keyId: string; readonly claimHash: string | null };
}

/** `missing`: the reservation is gone (this process was taken for dead): the reply must not be sent as if it were paid. */
export type SettleOutcome = { readonly type: 'settled'; readonly standing: Standing } | { readonly type: 'missing' };

/** Rows are written once and never changed, but for those overruled. Calls that wait together are committed together. */
export interface LedgerStore {
  /** @param withinMs may wait so long for other operations to share a transaction with. Default: 0 */
  reserve(reservation: Reservation, withinMs?: number): Promise<ReserveOutcome>;
  /** Removes the reservation and writes the row in one transaction. Settling twice: `settled`, one row. */
  settle(settlement: Settlement): Promise<SettleOutcome>;
  /** Gives the reservation back without a row: the request was not accepted after all. */
  release(id: string): Promise<void>;
  /** Where a key stands without asking for anything. Reads only. */
  standing(key: Pick<ApiKey, 'id' | 'budget' | 'limits'>, nowMs: number): Promise<KeyStanding>;
  /** Says that this process lives. */
  beat(instanceId: string, nowMs: number): Promise<void>;
  /** Takes the process off the list of the living; what it left open is recovered by `recover`. */
  leave(instanceId: string): Promise<void>;
  /**
   * Writes `crashed` rows at cost 0 for the reservations of processes that have not given a sign of life since
   * `deadBeforeMs`, and gives up their idempotency claims. @returns rows written
   */
  recover(deadBeforeMs: number, nowMs: number): Promise<number>;
  /** Deletes idempotency records whose time is over. @returns how many */
  purgeReplies(nowMs: number): Promise<number>;
}

export interface UsageStore {
  /**
   * Rows and rolled-up rows together, ordered by the dimensions; without dimensions always one group. A rolled-up hour
   * counts where its start lies in the range, and in its first minute. @param page `offset` groups are left out
   */
  sum(
    filter: UsageFilter,
    by: readonly UsageDimension[],
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly UsageGroup[]>;
  /** Single rows, newest first. @param before the last row of the page before */
  rows(
    filter: UsageFilter,
    page: {
      readonly before: { readonly acceptedAtMs: number; readonly id: string } | undefined;
      readonly limit: number;
    },
  ): Promise<readonly LedgerRow[]>;
  /** Of the rows alone: a roll-up has no times. Ordered by the dimensions. @param page `offset` groups are left out */
  latency(
    query: LatencyQuery,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly LatencyGroup[]>;
  /**
   * Rows in the order in which their requests ended, `after` left out.
   * @param page `last`: those nearest to `untilMs`; otherwise those nearest to `after`
   */
  ended(
    range: { readonly after: EndedPlace; readonly untilMs: number },
    page: { readonly last: boolean; readonly limit: number },
  ): Promise<readonly LedgerRow[]>;
  /**
   * Sums rows that were accepted before `beforeMs` (cut to an hour) by hour, key, model, endpoint and end, and deletes
   * them: at most `limit`, the oldest first, in one transaction. Sums stay the same at every moment. @returns rows rolled
   * up; `limit` where there may be more
   */
  rollUp(beforeMs: number, limit: number): Promise<number>;
}

export interface Stores {
  readonly keys: KeyStore;
  readonly prices: PriceStore;
  readonly ledger: LedgerStore;
  readonly usage: UsageStore;
  readonly audit: AuditStore;
  /** Whether the store answers. @throws StoreUnavailableError */
  check(): Promise<void>;
  close(): Promise<void>;
}
