// What must hold when the store failed and came back: refused meanwhile, and not one request served unbilled.

import { expect } from 'vitest';
import type { Outage } from './outage-run.ts';

export function expectClosed({ during, after, books }: Outage): void {
  // Those on the way when the store failed may still have been answered.
  const served = during.filter(({ status }) => status === 200);
  expect(served.length).toBeLessThan(during.length - served.length);
  const refused = [...during, ...after].filter(({ status }) => status !== 200);
  expect(refused.filter(({ status, text }) => status !== 503 || !text.includes('"store_unavailable"'))).toEqual([]);
  for (const { headers } of refused) expect(Number(headers.get('retry-after-ms'))).toBeGreaterThan(0);
  expect(books.faults).toEqual([]);
  // A stream that had begun is paid even if its end could not be written before the client was told.
  expect(books.answeredPicoUsd + books.cutPicoUsd).toBe(books.ledgerPicoUsd);
}
