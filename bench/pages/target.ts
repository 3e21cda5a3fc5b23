// One figure beside what was promised: missed is said missed, and what was not measured is neither.

import { formatNumber } from './table.ts';

export interface Wanted {
  readonly what: string;
  readonly relation: '≤' | '≥';
  readonly target: number;
  readonly unit: string;
}

export interface JudgedTarget extends Wanted {
  /** null: not measured. */
  readonly value: number | null;
  readonly outcome: 'reached' | 'missed' | 'not measured';
  /** What the value is made of. */
  readonly note: string;
}

export interface Found {
  readonly value: number | undefined;
  readonly note?: string;
}

export function judgeTarget(wanted: Wanted, { value, note = '' }: Found): JudgedTarget {
  if (value === undefined || Number.isNaN(value)) return { ...wanted, value: null, outcome: 'not measured', note };
  return { ...wanted, value, outcome: isReached(value, wanted) ? 'reached' : 'missed', note };
}

/** For a cell of a table. */
export function judge(value: number, relation: Wanted['relation'], target: number): string {
  return `${relation} ${formatNumber(target)}${isReached(value, { relation, target }) ? '' : '  MISSED'}`;
}

function isReached(value: number, { relation, target }: Pick<Wanted, 'relation' | 'target'>): boolean {
  return relation === '≤' ? value <= target : value >= target;
}
