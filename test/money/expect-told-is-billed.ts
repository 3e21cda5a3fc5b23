// What must hold when the database was cut off again and again.

import { expect } from 'vitest';
import type { CutRun } from './cut-run.ts';

export function expectToldIsBilled({ answers, books }: CutRun): void {
  expect(books.faults).toEqual([]);
  expect(books.answeredPicoUsd + books.cutPicoUsd).toBe(books.ledgerPicoUsd);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.filter(({ status, text }) => status !== 503 || !text.includes('"store_unavailable"'))).toEqual([]);
  expect(refused.length).toBeGreaterThan(0);
  expect(answers.length).toBeGreaterThan(refused.length);
}
