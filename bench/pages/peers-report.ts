// The result of a comparison: its shape, and its files. A run of some parts replaces these in the file of the same day and host and
// keeps the others: each part is of one run and says of which, so ratios are always of one run.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnswerComparison } from '../answers/compare-answers.ts';
import type { LoadClass } from '../load/loads.ts';
import type { Machine, Versions } from '../machine/machine.ts';
import type { measureBareLimit } from '../parts/bare.ts';
import type { listCosts, measureClosedLoops } from '../parts/closed.ts';
import type { measureKeptDocuments } from '../parts/kept.ts';
import type { measureWorkerMemory } from '../parts/memory.ts';
import type { measureOpenLoops } from '../parts/open.ts';
import type { measureScaling } from '../parts/scaling.ts';
import type { measureShares } from '../parts/shares.ts';
import type { measureSplits } from '../parts/splits.ts';
import type { Member } from '../servers/fleet.ts';
import type { Server } from '../servers/server.ts';
import type { JudgedTarget } from './target.ts';

type Measures<F extends (...args: never[]) => unknown> = Awaited<ReturnType<F>>;

/** A server as it was measured in one part. */
export interface ServerFigures
  extends Pick<Server, 'id' | 'title' | 'kind' | 'settings' | 'versions'>,
    Pick<Member, 'readyMs' | 'startedBytes' | 'idleShare'> {
  /** All processes, shared pages once, after the part's load. */
  readonly loadedBytes: number | null;
}

/** Of every part in which servers run beside each other. */
export interface Compared {
  readonly servers: readonly ServerFigures[];
  readonly answers: readonly AnswerComparison[];
  readonly classes: readonly Pick<LoadClass, 'id' | 'title' | 'task'>[];
}

export interface ClosedPart extends Compared, Measures<typeof measureClosedLoops> {
  readonly rounds: number;
  readonly sliceMs: number;
  readonly costs: ReturnType<typeof listCosts>;
}
export interface OpenPart extends Compared, Measures<typeof measureOpenLoops> {
  readonly rounds: number;
}
export interface ScalingPart extends Compared, Measures<typeof measureScaling> {}

export interface Figures {
  readonly decisions: ClosedPart;
  readonly open: OpenPart;
  readonly embeddings: ClosedPart;
  readonly scaling: ScalingPart;
  readonly kept: Measures<typeof measureKeptDocuments>;
  readonly shares: Measures<typeof measureShares>;
  readonly bare: Measures<typeof measureBareLimit>;
  readonly memory: Measures<typeof measureWorkerMemory>;
  readonly splits: Measures<typeof measureSplits>;
}

export type PartName = keyof Figures;

/** When and on what a part was measured. */
export interface Measured<T> {
  readonly startedAt: string;
  readonly tookMs: number;
  readonly versions: Versions;
  /** Processes that wanted a core in the minute before. */
  readonly loadBefore: number;
  /** What others used of all processors meanwhile; null where the system does not say, undefined in files of before. */
  readonly othersShare?: number | null;
  readonly figures: T;
}

export type Parts = { readonly [Name in PartName]?: Measured<Figures[Name]> };

export interface PeersReport {
  readonly format: 1;
  readonly startedAt: string;
  readonly isQuick: boolean;
  readonly machine: Machine;
  /** `UMPIRE_…` of whoever ran the bench. */
  readonly settings: Readonly<Record<string, string>>;
  readonly usdPerHour: number;
  readonly prices: Readonly<Record<string, number>>;
  readonly parts: Parts;
  readonly targets: readonly JudgedTarget[];
}

/** `<day>-<host>-peers[-quick]` */
export function nameReport({ startedAt, machine, isQuick }: PeersReport): string {
  return [startedAt.slice(0, 10), machine.hostname, 'peers', ...(isQuick ? ['quick'] : [])].join('-');
}

/** @param folder where the file of an earlier run may be @returns `report` with those parts that it has not measured itself */
export function mergeWithEarlier(folder: string, report: PeersReport): PeersReport {
  const path = join(folder, `${nameReport(report)}.json`);
  if (!existsSync(path)) return report;
  const earlier = parseReport(readFileSync(path, 'utf8'));
  const isSameMachine = earlier.machine.cpu === report.machine.cpu && earlier.machine.cores === report.machine.cores;
  return isSameMachine ? { ...report, parts: { ...earlier.parts, ...report.parts } } : report;
}

/** @param text of a written file */
export function parseReport(text: string): PeersReport {
  return JSON.parse(text, reviveMissing);
}

/** A figure of no samples is NaN, which JSON writes as null; taken for 0 it would reach any target. What others used may be unknown. */
function reviveMissing(key: string, value: unknown): unknown {
  const isFigure = /(Ms|PerSecond|Share|Ratio|ratio|r2)$/.test(key) && key !== 'othersShare';
  return value === null && isFigure ? Number.NaN : value;
}
