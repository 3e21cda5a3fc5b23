// Accounting over the ledger: a request is let in by a reservation and closed by one row. Owns what is said to the caller
// and what happens while the store fails; who fits into a budget the store decides.

import { randomUUID } from 'node:crypto';
import { StoreUnavailableError } from '../../domain/errors.ts';
import { type Demand, NO_STANDING } from '../../domain/ledger.ts';
import { ENDPOINT_OF_TYPE } from '../../domain/model-card.ts';
import { costPicoUsd } from '../../domain/money.ts';
import type { LedgerStore, Reservation, ReserveOutcome } from '../../storage/stores.ts';
import { idempotencyKeyBusy, idempotencyKeyReused, refusalError, replyNotKept, storeUnavailable } from '../refusal.ts';
import type { Requester } from '../requester.ts';
import { NEVER, pause, type WallClock, wallClock } from '../wall-clock.ts';
import type {
  Accounting,
  EarlyOpening,
  ExpectedWork,
  MeteredRequest,
  Opening,
  OpenRequest,
  ReplyStatuses,
} from './accounting.ts';
import { Foresight } from './foresight.ts';
import { type Admission, type LedgerParts, LedgerRequest, UnbilledRequest } from './ledger-request.ts';
import { Unsettled } from './unsettled.ts';

export interface LedgerMetrics {
  ledgerAnswered(operation: 'reserve' | 'settle', durationMs: number): void;
  servedUnbilled(): void;
}

export interface LedgerOptions {
  readonly store: LedgerStore;
  /** This process, whose death releases what it reserved. */
  readonly instanceId: string;
  readonly whenStoreFails: 'refuse' | 'serve';
  readonly settleTimeoutMs: number;
  readonly idempotency: { readonly windowMs: number; readonly maxReplyBytes: number; readonly waitMs: number };
  readonly statuses: ReplyStatuses;
  readonly metrics: LedgerMetrics;
  /** A fault of ours that no request can report. */
  readonly onFault: (error: unknown) => void;
  /** Default: the system's. */
  readonly clock?: WallClock;
}

interface Reserved {
  readonly reservation: Reservation;
  readonly outcome: ReserveOutcome;
}

/** Longer than most decisions take: the row of such a one is written in the transaction that lets it in. */
const RESERVE_WITHIN_MS = 50;
const FIRST_LOOK_MS = 20;
const LONGEST_LOOK_MS = 250;

export class LedgerAccounting implements Accounting {
  readonly #options: LedgerOptions;
  readonly #clock: WallClock;
  readonly #unsettled: Unsettled;
  readonly #parts: LedgerParts;
  readonly #foresight = new Foresight();
  #openRequests = 0;
  #onNoneOpen: () => void = () => undefined;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? wallClock;
    this.#unsettled = new Unsettled({ clock: this.#clock, onFault: options.onFault });
    this.#parts = { ...options, clock: this.#clock, unsettled: this.#unsettled };
  }

  needsCount({ key }: Requester): boolean {
    return key.budget !== null || key.limits.tokensPerMinute !== null;
  }

  expectsToAdmit(work: ExpectedWork): boolean {
    return this.#foresight.expectsRoom(work, this.#clock.nowMs());
  }

  async open(request: MeteredRequest): Promise<Opening> {
    let reserved: Reserved;
    try {
      reserved = await this.#reserveOrWait(request);
    } catch (error) {
      if (error instanceof StoreUnavailableError) return this.#openWithoutStore(request, error);
      throw error;
    }
    const { reservation, outcome } = reserved;
    switch (outcome.type) {
      case 'reserved':
        return {
          type: 'opened',
          request: this.#watch(new LedgerRequest(this.#parts, { request, reservation, standing: outcome.standing })),
        };
      case 'replay':
        if (outcome.reply === null) throw replyNotKept();
        return { type: 'replayed', reply: outcome.reply };
      case 'refused':
        throw refusalError(outcome, reservation.demand);
      case 'mismatch':
        throw idempotencyKeyReused();
      case 'in-progress':
        throw idempotencyKeyBusy();
    }
  }

  openEarly(request: MeteredRequest): EarlyOpening {
    const reservation = this.#reservationFor(request);
    const admission = this.#admitEarly(reservation);
    const opened = new LedgerRequest(this.#parts, { request, reservation, standing: NO_STANDING, admission });
    const letIn = admission.then((said) => {
      if ('error' in said) throw said.error;
    });
    letIn.catch(() => undefined);
    return { request: this.#watch(opened), letIn };
  }

  /**
   * Once nothing more is let in: waits for what is being closed, then tells the store what it could not be told so far.
   */
  async stop(): Promise<void> {
    if (this.#openRequests > 0) {
      const closed = new Promise<void>((resolve) => {
        this.#onNoneOpen = resolve;
      });
      await Promise.race([closed, pause(this.#clock, this.#options.settleTimeoutMs, NEVER)]);
    }
    await this.#unsettled.stop();
  }

  #watch(request: LedgerRequest): OpenRequest {
    this.#openRequests += 1;
    const closing = async <T>(end: Promise<T>): Promise<T> => {
      try {
        return await end;
      } finally {
        this.#openRequests -= 1;
        if (this.#openRequests === 0) this.#onNoneOpen();
      }
    };
    return {
      standing: request.standing,
      complete: (work) => closing(request.complete(work)),
      fail: (error, partial) => closing(request.fail(error, partial)),
    };
  }

  #reservationFor({ requester, model, isStreamed, expected }: MeteredRequest): Reservation {
    const { key, requestId, idempotency } = requester;
    const { instanceId, idempotency: rules } = this.#options;
    const acceptedAtMs = this.#clock.nowMs();
    const demand: Demand = {
      costPicoUsd: costPicoUsd(expected, model.price),
      tokens: expected.inputTokens + expected.outputTokens,
      budget: key.budget,
      limits: key.limits,
    };
    return {
      id: timeOrderedId(acceptedAtMs),
      requestId,
      keyId: key.id,
      modelId: model.id,
      endpoint: ENDPOINT_OF_TYPE[model.type],
      isStreamed,
      acceptedAtMs,
      price: model.price,
      instanceId,
      demand,
      idempotency: idempotency === undefined ? null : { ...idempotency, expiresAtMs: acceptedAtMs + rules.windowMs },
    };
  }

  /** A retry of a request that still runs waits for its end. */
  async #reserveOrWait(request: MeteredRequest): Promise<Reserved> {
    const untilMs = this.#clock.nowMs() + this.#options.idempotency.waitMs;
    let lookMs = FIRST_LOOK_MS;
    for (;;) {
      const reservation = this.#reservationFor(request);
      const outcome = await this.#reserve(reservation);
      const leftMs = untilMs - this.#clock.nowMs();
      if (outcome.type !== 'in-progress' || leftMs <= 0) return { reservation, outcome };
      await pause(this.#clock, Math.min(lookMs, leftMs), request.requester.signal);
      lookMs = Math.min(2 * lookMs, LONGEST_LOOK_MS);
    }
  }

  async #reserve(reservation: Reservation): Promise<ReserveOutcome> {
    const startedMs = performance.now();
    try {
      return this.#noted(reservation, await this.#options.store.reserve(reservation));
    } finally {
      this.#options.metrics.ledgerAnswered('reserve', performance.now() - startedMs);
    }
  }

  /** Nobody waits for it, so its time is not measured. */
  async #admitEarly(reservation: Reservation): Promise<Admission> {
    try {
      const outcome = this.#noted(reservation, await this.#options.store.reserve(reservation, RESERVE_WITHIN_MS));
      if (outcome.type === 'reserved') return { type: 'reserved' };
      if (outcome.type === 'refused') return { type: 'refused', error: refusalError(outcome, reservation.demand) };
      return { type: 'refused', error: new Error(`A request without an idempotency key is not "${outcome.type}".`) };
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) return { type: 'refused', error };
      if (this.#options.whenStoreFails === 'serve') return { type: 'unbilled' };
      return { type: 'unknown', error: storeUnavailable(error) };
    }
  }

  #noted(reservation: Reservation, outcome: ReserveOutcome): ReserveOutcome {
    if ('standing' in outcome) this.#foresight.note(reservation.keyId, outcome.standing, this.#clock.nowMs());
    return outcome;
  }

  #openWithoutStore(request: MeteredRequest, error: StoreUnavailableError): Opening {
    if (this.#options.whenStoreFails === 'refuse') throw storeUnavailable(error);
    return { type: 'opened', request: new UnbilledRequest(request.model.price, this.#options.metrics) };
  }
}

/** A UUID of version 7: rows that come together lie together, so that indexes grow at their end. */
function timeOrderedId(nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
