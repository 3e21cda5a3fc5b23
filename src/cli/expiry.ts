// When a key ends, as people write it: `90m`, `12h`, `30d`, `52w`, or a date.

import { UsageError } from './command.ts';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** @returns milliseconds since the epoch, later than `nowMs`. @throws UsageError */
export function parseExpiry(given: string, nowMs: number): number {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(given) ?? [];
  const unitMs = unit === undefined ? undefined : UNIT_MS[unit];
  const atMs = unitMs === undefined ? parseDate(given) : nowMs + Number(count) * unitMs;
  if (Number.isNaN(atMs)) throw new UsageError('--expires takes 90m, 12h, 30d, 52w, or a date such as 2027-01-31.');
  if (atMs <= nowMs) throw new UsageError('--expires must lie in the future.');
  return atMs;
}

function parseDate(given: string): number {
  return /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(given) ? Date.parse(given) : Number.NaN;
}
