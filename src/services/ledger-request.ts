// One request that the ledger let in, until its row is written. Owns the order of things when the store fails at the end:
// nothing is answered unbilled, and no reservation stays open.

import { NO_STANDING, type Standing } from '../domain/ledger.ts';
import type { ModelCard } from '../domain/model-card.ts';
import { costPicoUsd, type Price } from '../domain/money.ts';
import {
  type LedgerStore,
  type Reservation,
  type Settlement,
  type SettleOutcome,
  type StoredReply,
  StoreUnavailableError,
} from '../storage/stores.ts';
import type { FinishedWork, OpenRequest, Receipt } from './accounting.ts';
import {
  type EndedRequest,
  outcomeOfError,
  outcomeOfWork,
  outcomeUnbilled,
  type ReplyStatuses,
  wasAccepted,
} from './outcome.ts';
import { storeUnavailable } from './refusal.ts';
import type { Requester } from './requester.ts';
import type { Unsettled } from './unsettled.ts';
import { NEVER, pause, type WallClock } from './wall-clock.ts';

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

export interface LetInRequest {
  readonly request: { readonly requester: Requester; readonly model: ModelCard };
  readonly reservation: Reservation;
  readonly standing: Standing;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 400;

export class LedgerRequest implements OpenRequest {
  readonly standing: Standing;
  readonly #parts: LedgerParts;
  readonly #request: LetInRequest['request'];
  readonly #reservation: Reservation;

  constructor(parts: LedgerParts, { request, reservation, standing }: LetInRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#reservation = reservation;
    this.standing = standing;
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
    const standing = await this.#settleOrRefuse(settlement, ended);
    return { costPicoUsd: cost, standing };
  }

  async fail(error: unknown, partial?: Pick<FinishedWork, 'usage' | 'isEstimated' | 'waitMs'>): Promise<void> {
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

  async #settleOrRefuse(settlement: Settlement, ended: EndedRequest): Promise<Standing> {
    const { whenStoreFails, metrics, unsettled } = this.#parts;
    let cause: unknown;
    try {
      const settled = await this.#settlePatiently(settlement);
      if (settled.type === 'settled') return settled.standing;
      // Somebody took this process for dead and closed the request: there is nothing left to settle.
    } catch (error) {
      cause = error;
      const { outcome } = settlement;
      const isAnswered = whenStoreFails === 'serve' || this.#reservation.isStreamed || outcome.end === 'client_left';
      const last = isAnswered ? settlement : { id: settlement.id, outcome: outcomeUnbilled(outcome, ended) };
      unsettled.add(() => this.#settle(last));
      // It will be billed late, but it will be billed.
      if (whenStoreFails === 'serve') return NO_STANDING;
    }
    if (whenStoreFails === 'refuse') throw toAppError(cause);
    metrics.servedUnbilled();
    return NO_STANDING;
  }

  /** A store that fails is asked again for a while. A call that is under way is always waited for: it may yet succeed. */
  async #settlePatiently(settlement: Settlement): Promise<SettleOutcome> {
    const { clock, settleTimeoutMs, whenStoreFails } = this.#parts;
    const untilMs = clock.nowMs() + (whenStoreFails === 'refuse' ? settleTimeoutMs : 0);
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      try {
        return await this.#settle(settlement);
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
