// What must hold when a budget that pays for an exact number of decisions is spent.

import { expect } from 'vitest';
import { findPicoUsd } from '../../src/domain/money.ts';
import type { BudgetRun } from './budget-run.ts';

export function expectExactBudget(
  run: BudgetRun,
  { decisions, clients }: { decisions: number; clients: number },
): void {
  const { budgetPicoUsd, served, refused, others, account, ledger } = run;
  expect([served.length, refused.length, others.length]).toEqual([decisions, clients, 0]);
  expect(account).toEqual({ spent: budgetPicoUsd, reserved: 0n, inFlight: 0n });
  expect(ledger).toEqual({ rows: BigInt(decisions), sum: budgetPicoUsd });
  const remainders = served.map(({ headers }) => findPicoUsd(headers.get('x-umpire-budget-remaining-usd') ?? ''));
  expect(remainders).not.toContain(undefined);
  const nextMonth = startOfNextMonth(new Date());
  for (const { headers, text } of refused) {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    expect(error.code).toBe('insufficient_quota');
    // What is left, and when there is more.
    expect(error.message).toMatch(/\$0\b/);
    expect(error.message).toContain(nextMonth);
    expect(headers.get('x-umpire-budget-remaining-usd')).toBe('0');
  }
}

/** `2026-12-01` */
function startOfNextMonth(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString().slice(0, 10);
}
