// A real ledger in front of which a test can cut the line, and see what passes.

import type { KeyStanding } from '../../src/domain/account.ts';
import type { LedgerStore, Reservation, ReserveOutcome, Settlement, SettleOutcome } from '../../src/storage/stores.ts';
import { storeIsDown } from './scripted-ledger.ts';

export class FailingLedger implements LedgerStore {
  /** Which calls fail at the moment. */
  down: 'none' | 'settle' | 'all' = 'none';
  /** Called before each call of the request path passes. */
  onCall: (call: 'reserve' | 'settle' | 'release') => void = () => undefined;
  readonly #ledger: LedgerStore;

  constructor(ledger: LedgerStore) {
    this.#ledger = ledger;
  }

  async reserve(reservation: Reservation, withinMs?: number): Promise<ReserveOutcome> {
    this.#pass('reserve');
    return await this.#ledger.reserve(reservation, withinMs);
  }

  async settle(settlement: Settlement): Promise<SettleOutcome> {
    this.#pass('settle');
    return await this.#ledger.settle(settlement);
  }

  async release(id: string): Promise<void> {
    this.#pass('release');
    await this.#ledger.release(id);
  }

  async standing(...asked: Parameters<LedgerStore['standing']>): Promise<KeyStanding> {
    return await this.#ledger.standing(...asked);
  }

  async beat(instanceId: string, nowMs: number): Promise<void> {
    await this.#ledger.beat(instanceId, nowMs);
  }

  async leave(instanceId: string): Promise<void> {
    await this.#ledger.leave(instanceId);
  }

  async recover(deadBeforeMs: number, nowMs: number): Promise<number> {
    return await this.#ledger.recover(deadBeforeMs, nowMs);
  }

  async purgeReplies(nowMs: number): Promise<number> {
    return await this.#ledger.purgeReplies(nowMs);
  }

  #pass(call: 'reserve' | 'settle' | 'release'): void {
    this.onCall(call);
    const isDown = this.down === 'all' || (this.down === 'settle' && call === 'settle');
    if (isDown) throw storeIsDown();
  }
}
