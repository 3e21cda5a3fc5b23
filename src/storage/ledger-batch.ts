// Decides operations on the ledger one after the other, in memory, between what was read and what is to be written in one
// transaction. The policy is domain/account.ts's; the statements are ledger-statements.ts's.

import {
  type Account,
  admit,
  type Closed,
  correct,
  newAccount,
  periodStartMs,
  release,
  settle,
  standingOf,
} from '../domain/account.ts';
import { type AcceptedRequest, type LedgerRow, NO_STANDING, type RequestOutcome } from '../domain/ledger.ts';
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
  findRow(id: string): Promise<LedgerRow | undefined>;
}

export interface NewRow {
  readonly reservation: OpenReservation;
  readonly outcome: RequestOutcome;
}

/** A row that stands already, and how its request ended after all. */
export interface OverruledRow {
  readonly row: LedgerRow;
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
  readonly overruled: OverruledRow[] = [];
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

  async #settle(settlement: Settlement): Promise<SettleOutcome> {
    const { id, outcome, reply } = settlement;
    const reservation = this.#open.get(id);
    if (reservation === undefined) return await this.#settleAgain(settlement);
    const { accepted, costPicoUsd, tokens, terms } = reservation;
    const { acceptedAtMs, keyId } = accepted;
    const nowMs = acceptedAtMs + Math.round(outcome.durationMs);
    // Only forward: a request that ended before midnight, or under a `reset` that was changed since, moves nothing back.
    const startMs = periodStartMs(terms.budget?.reset ?? 'none', nowMs);
    const before = await this.#accountIn(keyId, Math.max(startMs, this.#accountOf(keyId).periodStartMs));
    const account = settle(before, { acceptedAtMs, costPicoUsd, tokens }, closedOf(outcome));
    this.#change(account);
    this.#open.delete(id);
    this.rows.push({ reservation, outcome });
    this.#endClaim(reservation, reply);
    return { type: 'settled', standing: standingOf(account, terms, nowMs) };
  }

  /** The request was settled before, or the process was taken for dead. */
  async #settleAgain({ id, outcome, overrules }: Settlement): Promise<SettleOutcome> {
    const settled: SettleOutcome = { type: 'settled', standing: NO_STANDING };
    if (this.rows.some(({ reservation }) => reservation.accepted.id === id)) return settled;
    const row = await this.#reads.findRow(id);
    if (row === undefined || row.end === 'crashed') return { type: 'missing' };
    const isOverruled = this.overruled.some((known) => known.row.id === id);
    if (overrules === undefined || row.end === outcome.end || isOverruled) return settled;
    const { claimHash: keyHash } = overrules;
    if (keyHash !== null && this.claims.isGiven({ keyHash, keyId: row.keyId }, id)) return settled;
    const change = { before: closedOf(row), now: closedOf(outcome) };
    this.#change(correct(this.#accountOf(row.keyId), row.acceptedAtMs, change));
    this.overruled.push({ row, outcome });
    if (keyHash !== null) this.claims.end({ keyHash, keyId: row.keyId, requestRowId: id, reply: undefined });
    return settled;
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

  /** What the rows of the store do not say yet. */
  #newlySpent(keyId: string, startMs: number): bigint {
    const isCounted = (of: AcceptedRequest): boolean => of.keyId === keyId && of.acceptedAtMs >= startMs;
    const costs = [
      ...this.rows
        .filter(({ reservation }) => isCounted(reservation.accepted))
        .map(({ outcome }) => outcome.costPicoUsd),
      ...this.overruled
        .filter(({ row }) => isCounted(row))
        .map(({ row, outcome }) => outcome.costPicoUsd - row.costPicoUsd),
    ];
    return costs.reduce((sum, cost) => sum + cost, 0n);
  }

  #accountOf(keyId: string): Account {
    return this.#accounts.get(keyId) ?? newAccount(keyId);
  }

  #change(account: Account): void {
    this.#accounts.set(account.keyId, account);
    this.#changed.add(account.keyId);
  }
}

function closedOf({ costPicoUsd, usage }: RequestOutcome): Closed {
  return { costPicoUsd, tokens: usage.inputTokens + usage.outputTokens };
}
