// A figure beside what was promised: one beyond it is marked, not hidden.

import { formatNumber } from './table.ts';

export function judge(value: number, relation: '≤' | '≥', target: number): string {
  const isMet = relation === '≤' ? value <= target : value >= target;
  return `${relation} ${formatNumber(target)}${isMet ? '' : '  MISSED'}`;
}
