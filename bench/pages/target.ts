// One figure beside what was promised: missed is said missed, and what was not measured is neither.

import { formatNumber } from './table.ts';

type Relation = '≤' | '≥';
type Promised = readonly [relation: Relation, target: number, unit: string];

export interface Found {
  readonly value: number | undefined;
  /** What the value is made of. */
  readonly note?: string;
}

export type JudgedTarget = ReturnType<typeof judgeTarget>;

export function judgeTarget(what: string, [relation, target, unit]: Promised, { value, note = '' }: Found) {
  const wanted = { what, relation, target, unit };
  if (value === undefined || Number.isNaN(value)) return { ...wanted, value: null, outcome: 'not measured', note };
  return { ...wanted, value, outcome: isReached(value, relation, target) ? 'reached' : 'missed', note };
}

/** For a cell of a table. */
export function judge(value: number, relation: Relation, target: number): string {
  return `${relation} ${formatNumber(target)}${isReached(value, relation, target) ? '' : '  MISSED'}`;
}

function isReached(value: number, relation: Relation, target: number): boolean {
  return relation === '≤' ? value <= target : value >= target;
}
