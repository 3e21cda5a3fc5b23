// One request in the ledger, from asking the store to the row it leaves: what is done in each state of its booking. Nothing
// is answered unbilled, nothing is billed twice, and no reservation stays open.

import type { Clock } from '../../domain/clock.ts';
import { StoreUnavailableError } from '../../domain/errors.ts';
import { NO_STANDING, type Standing, type StoredReply } from '../../domain/ledger.ts';
import type { LedgerStore, Reservation, ReserveOutcome, Settlement, SettleOutcome } from '../../storage/stores.ts';
import { idempotencyKeyBusy, idempotencyKeyReused, refusalError, replyNotKept, storeUnavailable } from '../refusal.ts';
import { NEVER, pause } from '../wall-clock.ts';
import type { Booking, FinishedWork, LetIn, NewBooking, Receipt, Replay, UsedWork } from './accounting.ts';
import { type BookingState, type Happening, nextState } from './booking-states.ts';
import type { Foresight } from './foresight.ts';
import {
  type EndedRequest,
  outcomeOfError,
  outcomeOfWork,
  outcomeUnbilled,
  reservationOf,
  wasAccepted,
} from './ledger-entry.ts';
import type { Unsettled } from './unsettled.ts';

export interface LedgerMetrics {
  ledgerAnswered(operation: 'reserve' | 'settle', durationMs: number): void;
  servedUnbilled(): void;
}

/** What all bookings share. */
export interface Books {
  readonly store: LedgerStore;
  /** This process, whose death releases what it reserved. */
  readonly instanceId: string;
  readonly whenStoreFails: 'refuse' | 'serve';
  readonly settleTimeoutMs: number;
  readonly idempotency: { readonly windowMs: number; readonly maxReplyBytes: number; readonly waitMs: number };
  readonly metrics: LedgerMetrics;
  /** A fault of ours that no request can report. */
  readonly onFault: (error: unknown) => void;
  readonly clock: Clock;
  readonly foresight: Foresight;
  readonly unsettled: Unsettled;
}

/** Longer than most decisions take: the row of such a one is written in the transaction that lets it in. */
const RESERVE_WITHIN_MS = 50;
const FIRST_LOOK_MS = 20;
const LONGEST_LOOK_MS = 250;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 400;

export class LedgerBooking implements Booking {
  readonly letIn: Promise<LetIn | Replay>;
  readonly #books: Books;
  readonly #wanted: NewBooking;
  #state: BookingState = 'asked';
  /** The latest: a retry that had to wait for the first request is accepted only then. */
  #reservation: Reservation;
  /** Why the request was not let in. */
  #refusal: unknown;
  readonly #closing = Promise.withResolvers<void>();

  constructor(books: Books, wanted: NewBooking) {
    this.#books = books;
    this.#wanted = wanted;
    this.#reservation = this.#newReservation();
    this.letIn = this.#ask();
    // Whoever began early may learn of it at the end of the work only.
    this.letIn.catch(() => undefined);
  }

  /** Resolves when nothing more comes of it but what `Unsettled` tells. */
  get closed(): Promise<void> {
    return this.#closing.promise;
  }

  async complete(work: FinishedWork): Promise<Receipt> {
    let settlement: Settlement;
    try {
      settlement = this.#settlementOf(work);
    } catch (error) {
      await this.fail(error);
      throw error;
    }
    this.#step('work done');
    try {
      return { costPicoUsd: settlement.outcome.costPicoUsd, standing: await this.#bill(settlement) };
    } finally {
      this.#closing.resolve();
    }
  }

  async fail(error: unknown, partial?: UsedWork): Promise<void> {
    try {
      if (this.#step('work failed') === 'failed') await this.#tellFailure(error, partial);
    } finally {
      this.#closing.resolve();
    }
  }

  async #ask(): Promise<LetIn | Replay> {
    try {
      const outcome = await this.#reservePatiently();
      switch (outcome.type) {
        case 'reserved':
          this.#step('let in');
          return { type: 'let-in', standing: outcome.standing };
        case 'replay':
          if (outcome.reply === null) throw replyNotKept();
          this.#step('answered before');
          this.#closing.resolve();
          return { type: 'replayed', reply: outcome.reply };
        case 'refused':
          throw refusalError(outcome, this.#reservation.demand);
        case 'mismatch':
          throw idempotencyKeyReused();
        case 'in-progress':
          throw idempotencyKeyBusy();
      }
    } catch (error) {
      return this.#notLetIn(error);
    }
  }

  #notLetIn(error: unknown): LetIn {
    const isAway = error instanceof StoreUnavailableError;
    if (isAway && this.#books.whenStoreFails === 'serve') {
      this.#step('store waived');
      return { type: 'let-in', standing: NO_STANDING };
    }
    this.#refusal = isAway ? storeUnavailable(error) : error;
    this.#step(isAway ? 'store away' : 'turned away');
    // Nobody else closes it.
    if (!this.#hasBegun) this.#closing.resolve();
    throw this.#refusal;
  }

  /** A retry of a request that still runs waits for its end. */
  async #reservePatiently(): Promise<ReserveOutcome> {
    const { clock, idempotency } = this.#books;
    const untilMs = clock.nowMs() + idempotency.waitMs;
    for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(2 * lookMs, LONGEST_LOOK_MS)) {
      const outcome = await this.#reserve();
      const leftMs = untilMs - clock.nowMs();
      if (outcome.type !== 'in-progress' || leftMs <= 0) return outcome;
      await pause(clock, Math.min(lookMs, leftMs), this.#wanted.caller.signal);
      this.#reservation = this.#newReservation();
    }
  }

  async #reserve(): Promise<ReserveOutcome> {
    const { store, metrics, foresight, clock } = this.#books;
    const startedMs = performance.now();
    try {
      const outcome = await store.reserve(this.#reservation, this.#hasBegun ? RESERVE_WITHIN_MS : 0);
      if ('standing' in outcome) foresight.note(this.#reservation.keyId, outcome.standing, clock.nowMs());
      return outcome;
    } finally {
      // Where work has begun nobody waits for it.
      if (!this.#hasBegun) metrics.ledgerAnswered('reserve', performance.now() - startedMs);
    }
  }

  /** @returns where the key stands. @throws why the work cannot be answered */
  async #bill(settlement: Settlement): Promise<Standing> {
    if (this.#state === 'ahead' || this.#state === 'settling') {
      // Told before it is known whether the request is let in: so both are one transaction. What is not let in is not there
      // to be settled.
      const first = this.#settle(settlement);
      first.catch(() => undefined);
      await this.letIn.catch(() => undefined);
      if (this.#state === 'settling') return await this.#settleOrRefuse(settlement, first);
    }
    if (this.#state === 'unbilled') return this.#serveUnbilled();
    throw this.#refusal;
  }

  /** @param first the settlement, told for the first time */
  async #settleOrRefuse(settlement: Settlement, first: Promise<SettleOutcome>): Promise<Standing> {
    const { whenStoreFails } = this.#books;
    try {
      const settled = await this.#settlePatiently(settlement, first);
      this.#step(settled.type === 'settled' ? 'row written' : 'reservation gone');
      if (settled.type === 'settled') return settled.standing;
    } catch (error) {
      this.#step('store silent');
      this.#owe(settlement);
      // It will be billed late, but it will be billed.
      if (whenStoreFails === 'serve') return NO_STANDING;
      throw error instanceof StoreUnavailableError ? storeUnavailable(error) : error;
    }
    // Somebody took this process for dead and closed the request: there is nothing left to settle.
    if (whenStoreFails === 'refuse') throw storeUnavailable(undefined);
    return this.#serveUnbilled();
  }

  /** A store that fails is asked again for a while. A call that is under way is always waited for: it may yet succeed. */
  async #settlePatiently(settlement: Settlement, first: Promise<SettleOutcome>): Promise<SettleOutcome> {
    const { clock, settleTimeoutMs, whenStoreFails } = this.#books;
    const untilMs = clock.nowMs() + (whenStoreFails === 'refuse' ? settleTimeoutMs : 0);
    let pauseMs = FIRST_PAUSE_MS;
    for (let telling = first; ; telling = this.#settle(settlement)) {
      try {
        return await telling;
      } catch (error) {
        const leftMs = untilMs - clock.nowMs();
        if (!(error instanceof StoreUnavailableError) || leftMs <= 0) throw error;
        await pause(clock, Math.min(pauseMs, leftMs), NEVER);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
  }

  /** Whether the row was written nobody knows. A client that is refused finds nothing of it when it comes again. */
  #owe(settlement: Settlement): void {
    const { whenStoreFails, unsettled } = this.#books;
    const { outcome } = settlement;
    const { id, keyId, isStreamed, idempotency } = this.#reservation;
    const isAnswered = whenStoreFails === 'serve' || isStreamed || outcome.end === 'client_left';
    const overrules = { keyId, claimHash: idempotency?.keyHash ?? null };
    const last = isAnswered ? settlement : { id, outcome: outcomeUnbilled(outcome), overrules };
    unsettled.tellNow(() => this.#settle(last));
  }

  #serveUnbilled(): Standing {
    this.#books.metrics.servedUnbilled();
    return NO_STANDING;
  }

  /** Tells the store once now, and in the background until it takes it if it does not answer. */
  async #tellFailure(error: unknown, partial: UsedWork | undefined): Promise<void> {
    const { store, unsettled, onFault } = this.#books;
    const { id } = this.#reservation;
    const isReleased = !wasAccepted(error, this.#wanted.model);
    const outcome = outcomeOfError(error, this.#ended(), partial);
    const tell = (): Promise<unknown> => (isReleased ? store.release(id) : this.#settle({ id, outcome }));
    try {
      await tell();
    } catch (fault) {
      if (fault instanceof StoreUnavailableError) unsettled.add(tell);
      else onFault(fault);
    }
  }

  async #settle(settlement: Settlement): Promise<SettleOutcome> {
    const startedMs = performance.now();
    try {
      return await this.#books.store.settle(settlement);
    } finally {
      this.#books.metrics.ledgerAnswered('settle', performance.now() - startedMs);
    }
  }

  #settlementOf(work: FinishedWork): Settlement {
    const { id, idempotency } = this.#reservation;
    const outcome = outcomeOfWork(work, this.#ended());
    return idempotency === null ? { id, outcome } : { id, outcome, reply: this.#kept(work.reply(outcome)) };
  }

  #kept(reply: StoredReply | null): StoredReply | null {
    const isTooLarge = reply !== null && Buffer.byteLength(reply.body) > this.#books.idempotency.maxReplyBytes;
    return isTooLarge ? null : reply;
  }

  #newReservation(): Reservation {
    const { instanceId, idempotency, clock } = this.#books;
    return reservationOf(this.#wanted, { instanceId, windowMs: idempotency.windowMs, nowMs: clock.nowMs() });
  }

  #ended(): EndedRequest {
    const { price, acceptedAtMs } = this.#reservation;
    return { price, durationMs: this.#books.clock.nowMs() - acceptedAtMs, signal: this.#wanted.caller.signal };
  }

  get #hasBegun(): boolean {
    return this.#wanted.hasBegun === true;
  }

  #step(happening: Happening): BookingState {
    this.#state = nextState(this.#state, happening);
    return this.#state;
  }
}
