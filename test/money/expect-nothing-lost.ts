// What must hold when a replica was lost.

import { expect } from 'vitest';
import type { LossRound } from './replica-loss.ts';

export function expectNothingLost({ answers, orphans, books }: LossRound): void {
  expect(books.faults).toEqual([]);
  expect(orphans).toBeGreaterThan(0);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  // What was closed meanwhile is refused, and never given away.
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.filter(({ status, text }) => status !== 503 || !text.includes('"store_unavailable"'))).toEqual([]);
}
