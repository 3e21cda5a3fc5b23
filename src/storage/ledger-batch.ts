// Decides operations on the ledger one after the other, in memory, between what was read and what is to be written in one
// transaction. The policy is domain/account.ts's; the statements are ledger-statements.ts's.

import { type Account, admit, newAccount, periodStartMs, release, settle, standingOf } from '../domain/account.ts';
import { NO_STANDING, type RequestOutcome } from '../domain/ledger.ts';
import type { IdempotencyClaims } from './idempotency-claims.ts';
import type { LedgerOperation, OperationOutcome } from './ledger-operation.ts';
import { type OpenReservation, openReservationOf } from './ledger-row.ts';
import type { Reservation, ReserveOutcome, Settlement, SettleOutcome } from './stores.ts';

/** Sums of a key in the store as it was before this batch. */
export interface StoredSums {
  readonly spentPicoUsd: bigint;
  readonly reservedPicoUsd: bigint;
  readonly inFlight: number;
}

export interface LedgerReads {
  sumsSince(keyId: string, periodStartMs: number): Promise<StoredSums>;
  /** Whether the row was written by a settlement, not by a recovery. */
  isSettled(id: string): Promise<boolean>;
}

export interface NewRow {
  readonly reservation: OpenReservation;
  readonly outcome: RequestOutcome;
}

export interface BatchState {
  readonly accounts: readonly Account[];
  /** Already taken out of the store. */
  readonly reservations: readonly OpenReservation[];
  readonly claims: IdempotencyClaims;
  readonly reads: LedgerReads;
}

export class LedgerBatch {
  readonly claims: IdempotencyClaims;
  readonly rows: NewRow[] = [];
  readonly #reads: LedgerReads;
  readonly #accounts = new Map<string, Account>();
  readonly #changed = new Set<string>();
  /** Taken out of the store and not ended yet, and the new ones. */
  readonly #open = new Map<string, OpenReservation>();

  constructor({ accounts, reservations, claims, reads }: BatchState) {
    this.claims = claims;
    this.#reads = reads;
    for (const account of accounts) this.#accounts.set(account.keyId, account);
    for (const reservation of reservations) this.#open.set(reservation.accepted.id, reservation);
  }

  get changedAccounts(): readonly Account[] {
    return [...this.#changed].map((keyId) => this.#accountOf(keyId));
  }

  /** To be put into the store. */
  get openReservations(): readonly OpenReservation[] {
    return [...this.#open.values()];
  }

  async decide(operation: LedgerOperation): Promise<OperationOutcome> {
    switch (operation.type) {
      case 'reserve':
        return await this.#reserve(operation.reservation);
      case 'settle':
        return await this.#settle(operation.settlement);
      case 'release':
        return this.#release(operation.id);
    }
  }

  async #reserve(wanted: Reservation): Promise<ReserveOutcome> {
    const { id, keyId, acceptedAtMs: nowMs, demand, idempotency } = wanted;
    if (this.#open.has(id)) throw new Error('There is a reservation of this id.');
    const known = idempotency === null ? undefined : this.claims.find(keyId, idempotency, nowMs);
    if (known !== undefined) return known;
    const account = await this.#accountIn(keyId, periodStartMs(demand.budget?.reset ?? 'none', nowMs));
    const decision = admit(account, demand, nowMs);
    if (decision.type === 'refused') {
      const { reason, retryAfterMs } = decision;
      return { type: 'refused', reason, retryAfterMs, standing: standingOf(account, demand, nowMs) };
    }
    this.#change(decision.account);
    this.#open.set(id, openReservationOf(wanted));
    if (idempotency !== null) this.claims.make(keyId, idempotency, id);
    return { type: 'reserved', standing: standingOf(decision.account, demand, nowMs) };
  }

  async #settle({ id, outcome, reply }: Settlement): Promise<SettleOutcome> {
    const reservation = this.#open.get(id);
    if (reservation === undefined) {
      const isSettled =
        this.rows.some((row) => row.reservation.accepted.id === id) || (await this.#reads.isSettled(id));
      return isSettled ? { type: 'settled', standing: NO_STANDING } : { type: 'missing' };
    }
    const { accepted, costPicoUsd, tokens, terms } = reservation;
    const { acceptedAtMs, keyId } = accepted;
    const nowMs = acceptedAtMs + Math.round(outcome.durationMs);
    // Only forward: a request that ended before midnight, or under a `reset` that was changed since, moves nothing back.
    const startMs = periodStartMs(terms.budget?.reset ?? 'none', nowMs);
    const before = await this.#accountIn(keyId, Math.max(startMs, this.#accountOf(keyId).periodStartMs));
    const usedTokens = outcome.usage.inputTokens + outcome.usage.outputTokens;
    const account = settle(
      before,
      { acceptedAtMs, costPicoUsd, tokens },
      { costPicoUsd: outcome.costPicoUsd, tokens: usedTokens },
    );
    this.#change(account);
    this.#open.delete(id);
    this.rows.push({ reservation, outcome });
    this.#endClaim(reservation, reply);
    return { type: 'settled', standing: standingOf(account, terms, nowMs) };
  }

  #release(id: string): undefined {
    const reservation = this.#open.get(id);
    if (reservation === undefined) return;
    const { accepted, costPicoUsd, tokens } = reservation;
    const { acceptedAtMs, keyId } = accepted;
    this.#change(release(this.#accountOf(keyId), { acceptedAtMs, costPicoUsd, tokens }));
    this.#open.delete(id);
    this.#endClaim(reservation, undefined);
  }

  #endClaim({ claimHash, accepted }: OpenReservation, reply: Settlement['reply']): void {
    if (claimHash === null) return;
    this.claims.end({ keyHash: claimHash, keyId: accepted.keyId, requestRowId: accepted.id, reply });
  }

  /** The account with the sums of that period: as kept, or added up anew where the period is another one. */
  async #accountIn(keyId: string, startMs: number): Promise<Account> {
    const account = this.#accountOf(keyId);
    if (account.periodStartMs === startMs) return account;
    const stored = await this.#reads.sumsSince(keyId, startMs);
    const open = [...this.#open.values()].filter(({ accepted }) => accepted.keyId === keyId);
    const counted = {
      ...account,
      periodStartMs: startMs,
      spentPicoUsd: stored.spentPicoUsd + this.#newlySpent(keyId, startMs),
      reservedPicoUsd: open
        .filter(({ accepted }) => accepted.acceptedAtMs >= startMs)
        .reduce((sum, { costPicoUsd }) => sum + costPicoUsd, stored.reservedPicoUsd),
      inFlight: stored.inFlight + open.length,
    };
    this.#change(counted);
    return counted;
  }

  #newlySpent(keyId: string, startMs: number): bigint {
    return this.rows
      .filter(({ reservation: { accepted } }) => accepted.keyId === keyId && accepted.acceptedAtMs >= startMs)
      .reduce((sum, { outcome }) => sum + outcome.costPicoUsd, 0n);
  }

  #accountOf(keyId: string): Account {
    return this.#accounts.get(keyId) ?? newAccount(keyId);
  }

  #change(account: Account): void {
    this.#accounts.set(account.keyId, account);
    this.#changed.add(account.keyId);
  }
}
