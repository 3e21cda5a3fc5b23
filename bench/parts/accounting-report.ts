// The table of what accounting costs.

import { judge } from '../pages/judge.ts';
import { type Cell, formatTable } from '../pages/table.ts';
import { type AccountingReport, STORES, type StoreName } from './accounting.ts';

/** Of the issue that brought the ledger. */
export const ACCOUNTING_TARGETS = {
  addedMs: { sqlite: { p50: 0.5, p99: 2 }, postgres: { p50: 2, p99: 6 } },
  sqliteRowsPerSecond: 2000,
} as const;

const NAMES: Readonly<Record<StoreName, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

export function formatAccounting(report: AccountingReport): string {
  const { decision, stack } = report;
  const rows: Cell[][] = [
    ['decision, 128 tokens, all of it off: p50', decision.off.p50Ms, 'ms', ''],
    ['  p95', decision.off.p95Ms, 'ms', ''],
    ['  p99', decision.off.p99Ms, 'ms', ''],
    ...STORES.flatMap((store) => listAdded(report, store)),
    ...STORES.flatMap((store) => listThroughput(report, store)),
    ['request without a model, 1 client, all of it off: p50', stack.off.alone.p50Ms, 'ms', ''],
    ...STORES.flatMap((store): Cell[][] => [
      [`  added on ${NAMES[store]} at p50`, stack[store].alone.p50Ms - stack.off.alone.p50Ms, 'ms', ''],
      [`  added on ${NAMES[store]} at p99`, stack[store].alone.p99Ms - stack.off.alone.p99Ms, 'ms', ''],
    ]),
    [
      `requests without a model, ${stack.off.concurrency} clients: all of it off`,
      stack.off.requestsPerSecond,
      '1/s',
      '',
    ],
    ...STORES.map((store): Cell[] => [`  ${NAMES[store]}`, stack[store].requestsPerSecond, '1/s', '']),
    ['  not answered with 200', stack.off.errors + stack.sqlite.errors + stack.postgres.errors, '', ''],
  ];
  return formatTable([['accounting', 'value', 'unit', 'target'], ...rows]);
}

function listAdded({ decision, added }: AccountingReport, store: StoreName): Cell[][] {
  const { p50, p99 } = ACCOUNTING_TARGETS.addedMs[store];
  return [
    [`keys, limits, budget and ledger on ${NAMES[store]}: p50`, decision[store].p50Ms, 'ms', ''],
    ['  added at p50', added[store].p50Ms, 'ms', judge(added[store].p50Ms, '≤', p50)],
    ['  added at p95', added[store].p95Ms, 'ms', ''],
    ['  added at p99', added[store].p99Ms, 'ms', judge(added[store].p99Ms, '≤', p99)],
  ];
}

function listThroughput({ ledger }: AccountingReport, store: StoreName): Cell[][] {
  const { rowsPerSecond, concurrency } = ledger[store];
  const target = store === 'sqlite' ? judge(rowsPerSecond, '≥', ACCOUNTING_TARGETS.sqliteRowsPerSecond) : '';
  return [[`ledger rows on ${NAMES[store]}, ${concurrency} callers`, rowsPerSecond, '1/s', target]];
}
