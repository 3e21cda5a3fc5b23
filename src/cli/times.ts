// Moments and spans of time, as people write them: `90m`, `12h`, `30d`, `52w`, or a date in UTC.

import { UsageError } from './command.ts';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** @param option its name with dashes, for the message. @throws UsageError */
export function parseSpan(given: string, option: string): number {
  const spanMs = findSpan(given);
  if (spanMs === undefined) throw new UsageError(`${option} takes 90m, 12h, 30d or 52w.`);
  return spanMs;
}

/** When a key ends. @returns milliseconds since the epoch, later than `nowMs`. @throws UsageError */
export function parseExpiry(given: string, nowMs: number): number {
  const spanMs = findSpan(given);
  const atMs = spanMs === undefined ? parseDate(given, '--expires') : nowMs + spanMs;
  if (atMs <= nowMs) throw new UsageError('--expires must lie in the future.');
  return atMs;
}

/** A date, or a time ago. @returns milliseconds since the epoch. @throws UsageError */
export function parsePast(given: string, option: string, nowMs: number): number {
  const spanMs = findSpan(given);
  return spanMs === undefined ? parseDate(given, option) : nowMs - spanMs;
}

/** A date. @returns milliseconds since the epoch. @throws UsageError */
export function parseMoment(given: string, option: string): number {
  return parseDate(given, option, '');
}

function findSpan(given: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(given) ?? [];
  const unitMs = unit === undefined ? undefined : UNIT_MS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

function parseDate(given: string, option: string, spans = '90m, 12h, 30d, 52w, or '): number {
  const atMs = /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(given) ? Date.parse(given) : Number.NaN;
  // The built-in parser takes the 31st of any month for a day of the next.
  if (Number.isNaN(atMs) || toDay(atMs) !== given.slice(0, 10))
    throw new UsageError(`${option} takes ${spans}a date such as 2027-01-31.`);
  return atMs;
}

/** `2027-01-31`, in UTC. */
export function toDay(ms: number | null, none = '–'): string {
  return ms === null ? none : new Date(ms).toISOString().slice(0, 10);
}
