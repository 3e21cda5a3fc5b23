// The result of a comparison: its shape, and its file. A run of some parts replaces these in the file of the same day and host and
// keeps the others: each part is of one run and says of which, so ratios are always of one run.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnswerComparison } from '../answers/answers.ts';
import type { LoadClass } from '../load/loads.ts';
import type { BareFigures } from '../parts/bare-limit.ts';
import type { ClosedCell } from '../parts/closed-part.ts';
import type { LeftOut } from '../parts/closed-plan.ts';
import type { CostFigures } from '../parts/cost.ts';
import type { KeptFigures } from '../parts/kept-document.ts';
import type { OpenFigures } from '../parts/open-part.ts';
import type { ScalingFigures } from '../parts/scaling.ts';
import type { ShareFigures } from '../parts/shares.ts';
import type { SplitFigures } from '../parts/splits.ts';
import type { MemoryFigures } from '../parts/worker-memory.ts';
import type { ReadyTimes } from '../servers/fleet.ts';
import type { Peer } from '../servers/peer.ts';
import type { Machine, Versions } from './hardware.ts';
import type { JudgedTarget } from './targets.ts';

/** A server as it was measured in one part. */
export interface ServerFigures extends Pick<Peer, 'id' | 'title' | 'kind' | 'settings' | 'versions'> {
  readonly readyMs: ReadyTimes;
  /** All processes, shared pages once: ready, and after the part's load. */
  readonly startedBytes: number | null;
  readonly loadedBytes: number | null;
  readonly idleShare: number;
}

export interface ComparisonFigures {
  readonly servers: readonly ServerFigures[];
  readonly answers: readonly AnswerComparison[];
  readonly classes: readonly Pick<LoadClass, 'id' | 'title' | 'task'>[];
}

export interface ClosedPart extends ComparisonFigures {
  readonly rounds: number;
  readonly sliceMs: number;
  readonly cells: readonly ClosedCell[];
  readonly leftOut: readonly LeftOut[];
  readonly costs: readonly CostFigures[];
}

export interface OpenPart extends ComparisonFigures, OpenFigures {
  readonly rounds: number;
}

export interface ScalingPart extends ComparisonFigures, ScalingFigures {}

export interface Figures {
  readonly decisions: ClosedPart;
  readonly open: OpenPart;
  readonly scaling: ScalingPart;
  readonly embeddings: ClosedPart;
  readonly kept: KeptFigures;
  readonly shares: ShareFigures;
  readonly bare: BareFigures;
  readonly memory: readonly MemoryFigures[];
  readonly splits: SplitFigures;
}

export type PartName = keyof Figures;

export const PART_NAMES: readonly PartName[] = [
  'decisions',
  'open',
  'scaling',
  'embeddings',
  'kept',
  'shares',
  'bare',
  'memory',
  'splits',
];

/** When and on what a part was measured. */
export interface Measured<T> {
  readonly startedAt: string;
  readonly tookMs: number;
  readonly versions: Versions;
  /** Processes that wanted a core in the minute before: above 0.5, others disturbed it. */
  readonly loadBefore: number;
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
  const earlier = JSON.parse(readFileSync(path, 'utf8'), reviveMissing) as PeersReport;
  const isSameMachine = earlier.machine.cpu === report.machine.cpu && earlier.machine.cores === report.machine.cores;
  return isSameMachine ? { ...report, parts: { ...earlier.parts, ...report.parts } } : report;
}

/** A figure of no samples is NaN, which JSON writes as null; taken for 0 it would reach any target. */
function reviveMissing(key: string, value: unknown): unknown {
  return value === null && /(Ms|PerSecond|Share|Ratio|ratio|r2)$/.test(key) ? Number.NaN : value;
}

/** @returns its path */
export function writeFile(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
