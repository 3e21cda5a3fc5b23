// What must hold after a kill.

import { expect } from 'vitest';
import type { CrashRound } from './crash-run.ts';

export function expectRightMoney({ answered, cut, openAtKill, recovered, retries, books }: CrashRound): void {
  expect(books.faults).toEqual([]);
  expect(books.answeredPicoUsd + books.cutPicoUsd).toBe(books.ledgerPicoUsd);
  expect(recovered).toEqual(openAtKill);
  expect(retries.failed).toEqual([]);
  // It was a kill in the middle of work.
  expect(answered).toBeGreaterThan(0);
  expect(cut).toBeGreaterThan(0);
}
