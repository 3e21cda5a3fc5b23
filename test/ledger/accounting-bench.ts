// The ledger's accounting over a scripted ledger, with a clock that the test moves.

import { unrestrictedKey } from '../../src/domain/api-key.ts';
import type { ModelCard } from '../../src/domain/model-card.ts';
import type { Booking, FinishedWork, LetIn, Replay } from '../../src/services/accounting/accounting.ts';
import { LedgerAccounting, type LedgerOptions } from '../../src/services/accounting/ledger-accounting.ts';
import type { AuthenticatedCaller } from '../../src/services/caller.ts';
import { ManualClock, settledMeanwhile } from '../engine/manual-clock.ts';
import { turns, until } from '../waiting/until.ts';
import { ScriptedLedger } from './scripted-ledger.ts';

const START_MS = 1_000_000;
export const KEV: ModelCard = {
  id: 'kev',
  type: 'decision',
  description: '',
  ownedBy: 'umpire',
  releaseDate: '2026-01-01',
  price: { inputMicroUsd: 37_800, cachedInputMicroUsd: 37_800, outputMicroUsd: 0 },
};
export const LLAMA: ModelCard = { ...KEV, id: 'llama', type: 'llm' };
export const KEY = unrestrictedKey({
  id: 'key_1',
  name: 'test',
  budget: { amountPicoUsd: 1_000_000n, reset: 'month' },
  limits: { requestsPerMinute: 60, tokensPerMinute: 1000, concurrentRequests: 4 },
});
const EXPECTED = { inputTokens: 57, cachedTokens: 0, outputTokens: 0 };
export const WORK: FinishedWork = {
  usage: { inputTokens: 57, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
  isEstimated: false,
  waitMs: 0.4,
  reply: () => ({ contentType: 'application/json', body: '{"answers":{}}', headers: {} }),
};
/** 57 tokens at the price of KEV. */
export const WORK_PICO_USD = 2_154_600n;

export const callerWith = (parts: Partial<AuthenticatedCaller> = {}): AuthenticatedCaller => ({
  key: KEY,
  keyId: KEY.id,
  signal: new AbortController().signal,
  requestId: 'req_1',
  idempotency: undefined,
  ...parts,
});

export interface Wanted {
  readonly caller?: AuthenticatedCaller;
  readonly model?: ModelCard;
  readonly isStreamed?: boolean;
}

export class AccountingBench {
  readonly store = new ScriptedLedger();
  readonly clock = new ManualClock();
  readonly faults: unknown[] = [];
  readonly accounting: LedgerAccounting;
  unbilled = 0;

  constructor(options: Partial<LedgerOptions> = {}) {
    this.clock.advance(START_MS);
    this.accounting = new LedgerAccounting({
      store: this.store,
      instanceId: 'instance_1',
      whenStoreFails: 'refuse',
      settleTimeoutMs: 3000,
      idempotency: { windowMs: 60_000, maxReplyBytes: 100, waitMs: 8000 },
      metrics: {
        ledgerAnswered: () => undefined,
        servedUnbilled: () => {
          this.unbilled += 1;
        },
      },
      onFault: (error) => this.faults.push(error),
      clock: this.clock,
      ...options,
    });
  }

  book({ caller = callerWith(), model = KEV, isStreamed = false }: Wanted = {}): Booking {
    return this.accounting.book({ caller, model, isStreamed, expected: EXPECTED });
  }

  async letIn(wanted?: Wanted): Promise<LetIn | Replay> {
    return await this.book(wanted).letIn;
  }

  /** A booking that was let in. */
  async booked(wanted?: Wanted): Promise<Booking> {
    const booking = this.book(wanted);
    const opening = await booking.letIn;
    if (opening.type !== 'let-in') throw new Error('replayed');
    return booking;
  }

  /** Lets the clock run on until the promise is settled. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    return await settledMeanwhile(promise, (isSo) => this.until(isSo));
  }

  /** Lets the clock run on until it is so. */
  async until(isSo: () => boolean): Promise<void> {
    await turns(1);
    await until(
      'it is so on the clock of the test',
      () => {
        if (isSo()) return true;
        this.clock.advance(10);
        return false;
      },
      { pauseMs: 0 },
    );
  }
}
