// What `umpire doctor` finds about the clock, beside those that the database and the upstreams tell.

import type { Finding } from '../../cli/program.ts';
import { note, ok, warning } from './findings.ts';

/** A `Date` header has whole seconds, and each reading takes its time. */
const TOLERATED_MS = 5000;
const SECOND_MS = 1000;

export interface OtherClock {
  /** `the database` */
  readonly owner: string;
  /** How far ours is ahead of it. */
  readonly aheadMs: number;
}

export function lookAtClock(others: readonly OtherClock[], nowMs: number): Finding {
  const now = new Date(nowMs).toISOString();
  if (others.length === 0)
    return note('clock', `${now}; there is no database server and no upstream to compare it with`);
  const worst = others.reduce((a, b) => (Math.abs(b.aheadMs) > Math.abs(a.aheadMs) ? b : a));
  const told = `${now}, ${describe(worst)}`;
  if (Math.abs(worst.aheadMs) <= TOLERATED_MS) return ok('clock', told);
  return warning('clock', `${told}: budgets, prices and the end of keys go by it`, 'let NTP set it, on both machines');
}

function describe({ owner, aheadMs }: OtherClock): string {
  const seconds = (Math.abs(aheadMs) / SECOND_MS).toFixed(1);
  return `${seconds} s ${aheadMs >= 0 ? 'ahead of' : 'behind'} that of ${owner}`;
}
