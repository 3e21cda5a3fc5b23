// A ledger that answers as a test tells it, call by call, and remembers what it was asked. Without a script it lets
// everything in and settles everything.

import type { KeyStanding } from '../../src/domain/account.ts';
import { StoreUnavailableError } from '../../src/domain/errors.ts';
import type { Standing } from '../../src/domain/ledger.ts';
import type { LedgerStore, Reservation, ReserveOutcome, Settlement, SettleOutcome } from '../../src/storage/stores.ts';

export const STANDING: Standing = {
  budget: { amountPicoUsd: 1_000_000n, remainingPicoUsd: 400_000n, resetsAtMs: Date.UTC(2026, 11, 1) },
  requests: { limit: 60, remaining: 59, resetMs: 1000 },
  tokens: { limit: 1000, remaining: 900, resetMs: 6000 },
  concurrent: { limit: 4, remaining: 3 },
};

/** One answer to one call. */
type Answer<T> = T | Error | (() => Promise<T>);

export const storeIsDown = (): StoreUnavailableError => new StoreUnavailableError('no connection');

export class ScriptedLedger implements LedgerStore {
  readonly reservations: Reservation[] = [];
  readonly settlements: Settlement[] = [];
  readonly released: string[] = [];
  /** Taken one by one; when there are none left, the default is given. */
  readonly reserveScript: Answer<ReserveOutcome>[] = [];
  readonly settleScript: Answer<SettleOutcome>[] = [];
  readonly releaseScript: Answer<undefined>[] = [];

  async reserve(reservation: Reservation): Promise<ReserveOutcome> {
    this.reservations.push(reservation);
    return await play(this.reserveScript, { type: 'reserved', standing: STANDING });
  }

  async settle(settlement: Settlement): Promise<SettleOutcome> {
    this.settlements.push(settlement);
    return await play(this.settleScript, { type: 'settled', standing: STANDING });
  }

  async release(id: string): Promise<void> {
    this.released.push(id);
    await play(this.releaseScript, undefined);
  }

  async standing(): Promise<KeyStanding> {
    return { standing: STANDING, spentPicoUsd: 0n, reservedPicoUsd: 0n, limit: null };
  }

  async beat(): Promise<void> {}

  async leave(): Promise<void> {}

  async recover(): Promise<number> {
    return 0;
  }

  async purgeReplies(): Promise<number> {
    return 0;
  }
}

async function play<T>(script: Answer<T>[], otherwise: T): Promise<T> {
  const [answer] = script.splice(0, 1);
  if (answer instanceof Error) throw answer;
  if (answer instanceof Function) return await (answer as () => Promise<T>)();
  return answer === undefined ? otherwise : (answer as T);
}
