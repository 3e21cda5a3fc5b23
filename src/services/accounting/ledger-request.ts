// One request that the ledger let in, until its row is written. Owns the order of things when the store fails at the end:
// nothing is answered unbilled, and no reservation stays open.

import { type AppError, StoreUnavailableError } from '../../domain/errors.ts';
import { NO_STANDING, type RequestOutcome, type Standing, type StoredReply } from '../../domain/ledger.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import { costPicoUsd, type Price } from '../../domain/money.ts';
import type { LedgerStore, Reservation, Settlement, SettleOutcome } from '../../storage/stores.ts';
import { storeUnavailable } from '../refusal.ts';
import type { Requester } from '../requester.ts';
import { NEVER, pause, type WallClock } from '../wall-clock.ts';
import type { FinishedWork, OpenRequest, Receipt, ReplyStatuses } from './accounting.ts';
import { type EndedRequest, outcomeOfError, outcomeOfWork, outcomeUnbilled, wasAccepted } from './outcome.ts';
import type { Unsettled } from './unsettled.ts';

export interface LedgerParts {
  readonly store: LedgerStore;
  readonly whenStoreFails: 'refuse' | 'serve';
  readonly settleTimeoutMs: number;
  readonly idempotency: { readonly maxReplyBytes: number };
  readonly statuses: ReplyStatuses;
  readonly metrics: {
    ledgerAnswered(operation: 'settle', durationMs: number): void;
    servedUnbilled(): void;
  };
  readonly onFault: (error: unknown) => void;
  readonly clock: WallClock;
  readonly unsettled: Unsettled;
}

/** What became of a reservation that its request did not wait for. */
export type Admission =
  | { readonly type: 'reserved' }
  | { readonly type: 'refused'; readonly error: unknown }
  /** The store could not be asked, and the configuration wants it served all the same. */
  | { readonly type: 'unbilled' }
  /** The store failed: it may have taken the reservation, and the settlement that came with it. */
  | { readonly type: 'unknown'; readonly error: AppError };

export interface LetInRequest {
  readonly request: { readonly requester: Requester; readonly model: ModelCard };
  readonly reservation: Reservation;
  readonly standing: Standing;
  /** Default: it was reserved. Never rejects. */
  readonly admission?: Promise<Admission>;
}

const RESERVED: Admission = { type: 'reserved' };

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 400;

export class LedgerRequest implements OpenRequest {
  readonly standing: Standing;
  readonly #parts: LedgerParts;
  readonly #request: LetInRequest['request'];
  readonly #reservation: Reservation;
  /** undefined: not known yet. */
  #admission: Admission | undefined;
  readonly #admitted: Promise<Admission>;

  constructor(parts: LedgerParts, { request, reservation, standing, admission }: LetInRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#reservation = reservation;
    this.standing = standing;
    this.#admission = admission === undefined ? RESERVED : undefined;
    this.#admitted = (admission ?? Promise.resolve(RESERVED)).then((said) => {
      this.#admission = said;
      return said;
    });
  }

  async complete(work: FinishedWork): Promise<Receipt> {
    const ended = this.#ended();
    const outcome = outcomeOfWork(work, ended);
    const { costPicoUsd: cost } = outcome;
    let settlement: Settlement;
    try {
      settlement = { id: this.#reservation.id, outcome, ...this.#kept(() => work.reply({ costPicoUsd: cost })) };
    } catch (error) {
      await this.fail(error);
      throw error;
    }
    // Told before it is known whether the request is let in: so both are one transaction. What is not let in is not
    // there to be settled.
    const first = this.#settle(settlement);
    first.catch(() => undefined);
    const admission = await this.#admitted;
    if (admission.type === 'refused') throw admission.error;
    if (admission.type === 'unbilled') {
      this.#parts.metrics.servedUnbilled();
      return { costPicoUsd: cost, standing: NO_STANDING };
    }
    const standing = await this.#settleOrRefuse(settlement, ended, first);
    return { costPicoUsd: cost, standing };
  }

  async fail(error: unknown, partial?: Pick<FinishedWork, 'usage' | 'isEstimated' | 'waitMs'>): Promise<void> {
    if (this.#admission !== undefined && this.#admission.type !== 'reserved') return;
    const { store } = this.#parts;
    const { id } = this.#reservation;
    const isReleased = partial === undefined && !wasAccepted(error, this.#request.model);
    const outcome = outcomeOfError(error, this.#ended(), partial);
    await this.#tell(() => (isReleased ? store.release(id) : this.#settle({ id, outcome })));
  }

  /** Tells the store once now, and in the background until it takes it if it does not answer. Never throws. */
  async #tell(telling: () => Promise<unknown>): Promise<void> {
    try {
      await telling();
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.#parts.unsettled.add(telling);
      else this.#parts.onFault(error);
    }
  }

  /** @param first the settlement, told for the first time */
  async #settleOrRefuse(settlement: Settlement, ended: EndedRequest, first: Promise<SettleOutcome>): Promise<Standing> {
    const { whenStoreFails, metrics, unsettled } = this.#parts;
    let cause: unknown;
    try {
      const settled = await this.#settlePatiently(settlement, first);
      if (settled.type === 'settled') return settled.standing;
      // Somebody took this process for dead and closed the request: there is nothing left to settle.
    } catch (error) {
      cause = error;
      const { outcome } = settlement;
      const isAnswered = whenStoreFails === 'serve' || this.#reservation.isStreamed || outcome.end === 'client_left';
      // Whether the settlement was committed is not known. A client that is refused finds nothing of it when it comes again.
      const last = isAnswered ? settlement : this.#overruling(outcomeUnbilled(outcome, ended));
      unsettled.tellNow(() => this.#settle(last));
      // It will be billed late, but it will be billed.
      if (whenStoreFails === 'serve') return NO_STANDING;
    }
    if (whenStoreFails === 'refuse') throw toAppError(cause);
    metrics.servedUnbilled();
    return NO_STANDING;
  }

  #overruling(outcome: RequestOutcome): Settlement {
    const { id, keyId, idempotency } = this.#reservation;
    return { id, outcome, overrules: { keyId, claimHash: idempotency?.keyHash ?? null } };
  }

  /** A store that fails is asked again for a while. A call that is under way is always waited for: it may yet succeed. */
  async #settlePatiently(settlement: Settlement, first: Promise<SettleOutcome>): Promise<SettleOutcome> {
    const { clock, settleTimeoutMs, whenStoreFails } = this.#parts;
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

  async #settle(settlement: Settlement): Promise<SettleOutcome> {
    const startedMs = performance.now();
    try {
      return await this.#parts.store.settle(settlement);
    } finally {
      this.#parts.metrics.ledgerAnswered('settle', performance.now() - startedMs);
    }
  }

  #kept(reply: () => StoredReply | null): { readonly reply?: StoredReply | null } {
    if (this.#reservation.idempotency === null) return {};
    const kept = reply();
    const isTooLarge = kept !== null && Buffer.byteLength(kept.body) > this.#parts.idempotency.maxReplyBytes;
    return { reply: isTooLarge ? null : kept };
  }

  #ended(): EndedRequest {
    const { clock, statuses } = this.#parts;
    const { price, acceptedAtMs } = this.#reservation;
    return { price, durationMs: clock.nowMs() - acceptedAtMs, statuses, signal: this.#request.requester.signal };
  }
}

/** Nothing of the store's own words; a fault of ours stays what it is. */
function toAppError(cause: unknown): unknown {
  return cause === undefined || cause instanceof StoreUnavailableError ? storeUnavailable(cause) : cause;
}

/** Let in while the store could not be asked, because the configuration wants it so: counted, and nothing else. */
export class UnbilledRequest implements OpenRequest {
  readonly standing = NO_STANDING;
  readonly #price: Price;
  readonly #metrics: Pick<LedgerParts['metrics'], 'servedUnbilled'>;

  constructor(price: Price, metrics: Pick<LedgerParts['metrics'], 'servedUnbilled'>) {
    this.#price = price;
    this.#metrics = metrics;
  }

  async complete({ usage }: FinishedWork): Promise<Receipt> {
    this.#metrics.servedUnbilled();
    return { costPicoUsd: costPicoUsd(usage, this.#price), standing: NO_STANDING };
  }

  async fail(): Promise<void> {
    // Nothing was reserved.
  }
}
