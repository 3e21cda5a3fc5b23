// Whether a key will most likely be let in, from where it stood when the store was last asked. With that, work can begin
// while the store is asked again: a guess that is wrong costs work that is thrown away, never a wrong bill.

import type { LimitStanding, Standing } from '../../domain/ledger.ts';
import { costPicoUsd } from '../../domain/money.ts';
import type { NewBooking } from './accounting.ts';

/** Other requests of the key, here and on other servers, that may be let in before this one is. */
const ROOM_FOR_REQUESTS = 32;
/** An older standing says too little; after it the store is also known to answer. */
const LIFETIME_MS = 2000;
const MAX_KEYS = 10_000;

interface LastStanding {
  readonly standing: Standing;
  readonly atMs: number;
}

export class Foresight {
  readonly #standings = new Map<string, LastStanding>();

  /** What the store said of a key, whether it let a request in or not. */
  note(keyId: string, standing: Standing, nowMs: number): void {
    this.#standings.delete(keyId);
    this.#standings.set(keyId, { standing, atMs: nowMs });
    // A map iterates in order of insertion: the first is the one that was asked about longest ago.
    const [oldest] = this.#standings.keys();
    if (this.#standings.size > MAX_KEYS && oldest !== undefined) this.#standings.delete(oldest);
  }

  expectsRoom({ caller, model, expected }: NewBooking, nowMs: number): boolean {
    // What is answered from an earlier reply must not run.
    if (caller.idempotency !== undefined) return false;
    const last = this.#standings.get(caller.key.id);
    if (last === undefined || nowMs - last.atMs > LIFETIME_MS) return false;
    const { budget, requests, tokens, concurrent } = last.standing;
    const cost = costPicoUsd(expected, model.price);
    return (
      (budget === null || budget.remainingPicoUsd >= cost * BigInt(ROOM_FOR_REQUESTS)) &&
      hasRoom(requests, 1) &&
      hasRoom(tokens, expected.inputTokens + expected.outputTokens) &&
      (concurrent === null || concurrent.remaining > 1)
    );
  }
}

function hasRoom(rate: LimitStanding | null, amount: number): boolean {
  return rate === null || rate.remaining >= amount * ROOM_FOR_REQUESTS;
}
