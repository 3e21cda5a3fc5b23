// The result of a comparison: its shape, and its files. A run of some parts replaces these in the file of the same day and host and
// keeps the others: each part is of one run and says of which, so ratios are always of one run.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Machine } from '../machine/machine.ts';
import type { Prices } from '../parts/part.ts';
import type { Parts } from '../parts/parts.ts';
import type { JudgedTarget } from './target.ts';

export interface PeersReport {
  readonly format: 1;
  readonly startedAt: string;
  readonly isQuick: boolean;
  readonly machine: Machine;
  /** `UMPIRE_…` of whoever ran the bench. */
  readonly settings: Readonly<Record<string, string>>;
  readonly usdPerHour: number;
  readonly prices: Prices;
  readonly parts: Parts;
  readonly targets: readonly JudgedTarget[];
}

/** `<day>-<host>-peers[-quick]` */
export function nameReport({ startedAt, machine, isQuick }: PeersReport): string {
  return [startedAt.slice(0, 10), machine.hostname, 'peers', ...(isQuick ? ['quick'] : [])].join('-');
}

/** @param folder where the file of an earlier run may be @returns `report` with those parts that it has not measured itself */
export function mergeWithEarlier(folder: string, report: PeersReport): PeersReport {
  const path = join(folder, `${nameReport(report)}.json.gz`);
  if (!existsSync(path)) return report;
  const earlier = parseReport(readFileSync(path));
  const isSameMachine = earlier.machine.cpu === report.machine.cpu && earlier.machine.cores === report.machine.cores;
  return isSameMachine ? { ...report, parts: { ...earlier.parts, ...report.parts } } : report;
}

/** Packed: the figures are for programs, people read the page. */
export function renderReport(report: PeersReport): Buffer {
  return gzipSync(`${JSON.stringify(report)}\n`, { level: 9 });
}

/** @param packed a written file */
export function parseReport(packed: Buffer): PeersReport {
  return JSON.parse(gunzipSync(packed).toString(), reviveMissing);
}

/** A figure of no samples is NaN, which JSON writes as null; taken for 0 it would reach any target. What others used may be unknown. */
function reviveMissing(key: string, value: unknown): unknown {
  const isFigure = /(Ms|PerSecond|Share|Ratio|ratio|r2)$/.test(key) && key !== 'othersShare';
  return value === null && isFigure ? Number.NaN : value;
}
