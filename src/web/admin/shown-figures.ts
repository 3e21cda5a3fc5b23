// Numbers and moments as people read them, where format/figures.ts has not enough: large counts, long times, shares of a sum.

import { h, type JSX } from 'preact';

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const THREE_DIGITS = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });
const PICO = 1e12;

/** `12,345`, `1.2M` */
export function showCount(count: number): string {
  return count < 100_000 ? WHOLE.format(count) : COMPACT.format(count);
}

export function picoToDollars(picoUsd: string): number {
  return Number(picoUsd) / PICO;
}

/** `12 ms`, `1.23 s`, `2.5 min` */
export function showDuration(ms: number): string {
  if (ms < 1000) return `${WHOLE.format(ms)} ms`;
  return ms < 120_000 ? `${THREE_DIGITS.format(ms / 1000)} s` : `${THREE_DIGITS.format(ms / 60_000)} min`;
}

export function showShare(part: number, whole: number): string {
  return whole === 0 ? '–' : `${THREE_DIGITS.format((100 * part) / whole)} %`;
}

const DAY_AND_TIME: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
};

export interface MomentProps {
  /** null: none. */
  readonly at: string | null;
  /** Default: a dash. */
  readonly none?: string;
  readonly format?: Intl.DateTimeFormatOptions;
}

/** A moment in the reader's own zone; pointed at, in UTC. */
export function Moment({ at, none = '–', format = DAY_AND_TIME }: MomentProps): JSX.Element {
  if (at === null) return h('span', { class: 'soft' }, none);
  return h('time', { dateTime: at, title: at }, new Date(at).toLocaleString('en-GB', format));
}
