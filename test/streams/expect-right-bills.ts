// What must hold after a run of streams, and what is said of it.

import { expect } from 'vitest';
import { formatUsd } from '../../src/domain/money.ts';
import { sumOf } from '../money/books.ts';
import { sawDone } from './leaving-client.ts';
import { faultsOfStreams } from './stream-books.ts';
import { POLICIES } from './stream-order.ts';
import type { StreamRun } from './stream-run.ts';

const MAX_FAULTS_SHOWN = 20;

export function expectRightBills(run: StreamRun): void {
  expect(run.exit).toEqual({ code: 0, signal: null });
  expect(run.serverFaults.slice(0, MAX_FAULTS_SHOWN)).toEqual([]);
  expect(faultsOfStreams(run).slice(0, MAX_FAULTS_SHOWN)).toEqual([]);
  expect(run.openReservations).toBe(0);
  const rowsOfKey = Map.groupBy(run.rows, ({ keyId }) => keyId);
  const sums = [...rowsOfKey].map(([keyId, rows]) => ({
    keyId,
    spentPicoUsd: sumOf(rows.map(({ costPicoUsd }) => costPicoUsd)),
    reservedPicoUsd: 0n,
    inFlight: 0n,
  }));
  const byKey = (one: { readonly keyId: string }, other: { readonly keyId: string }) =>
    one.keyId < other.keyId ? -1 : 1;
  expect(run.accounts.toSorted(byKey)).toEqual(sums.toSorted(byKey));
  // It was what it says: many left, and many did not.
  const left = run.clients.filter(({ hasLeft }) => hasLeft).length;
  expect(left / run.clients.length).toBeGreaterThan(0.15);
  expect(left / run.clients.length).toBeLessThan(0.5);
}

export function describeRun(run: StreamRun): string {
  const { clients, rows, retries, elapsedMs } = run;
  const done = clients.filter(sawDone).length;
  const left = clients.filter(({ hasLeft }) => hasLeft).length;
  const policyOf = new Map(clients.map(({ order }) => [order.plan.id, order.policy]));
  const lines = POLICIES.map((policy) => {
    const own = rows.filter(({ requestId }) => policyOf.get(requestId) === policy);
    const ends = [...Map.groupBy(own, ({ end }) => end)].map(([end, { length }]) => `${length} ${end}`).sort();
    const estimated = own.filter(({ isEstimated }) => isEstimated).length;
    return `  ${policy}: ${own.length} rows (${ends.join(', ')}; ${estimated} estimated), $${formatUsd(sumOf(own.map(({ costPicoUsd }) => costPicoUsd)))}`;
  });
  const rowsOf = new Set(rows.map(({ requestId }) => requestId));
  const unheard = clients.filter(({ order }) => !rowsOf.has(order.plan.id)).length;
  const replayed = retries.filter(({ isReplay }) => isReplay).length;
  return [
    `${clients.length} streams in ${Math.round(elapsedMs)} ms: ${done} read to their end, ${left} cut by their clients`,
    ...lines,
    `  ${retries.length} retries with an idempotency key: ${replayed} replayed, ${retries.length - replayed} run`,
    `  ${unheard} cut before their request had arrived`,
    `  ${rows.length} rows, ${run.openReservations} reservations open, ${faultsOfStreams(run).length} faults`,
    '',
  ].join('\n');
}
