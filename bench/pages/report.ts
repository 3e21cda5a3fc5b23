// The bench's result: its shape, the tables on the screen, and the file in bench/results.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { GoldenOutcome } from '../answers/golden-check.ts';
import type { LoadResult } from '../load/load.ts';
import type { LatencySummary } from '../load/statistics.ts';
import type { AccountingReport } from '../parts/accounting.ts';
import { ACCOUNTING_TARGETS, formatAccounting } from '../parts/accounting-report.ts';
import type { MemoryReport, PeakReport } from '../parts/memory.ts';
import type { LatencyOverhead, ThroughputRatio } from '../parts/overhead.ts';
import type { EngineSettings } from '../servers/engine-settings.ts';
import type { Machine, Versions } from './hardware.ts';
import { judge } from './judge.ts';
import { type Cell, formatNumber, formatTable } from './table.ts';

/** What the issue of a release promises; a figure beyond it is marked, not hidden. */
export const TARGETS = {
  p50OverheadMs: 2,
  throughputRatio: 0.9,
  documentP95Ms: 200,
  residentBytes: 450e6,
  warmReadyMs: 3000,
  accounting: ACCOUNTING_TARGETS,
} as const;

/** What every result says of itself. */
export interface ReportHead {
  readonly format: 1;
  readonly startedAt: string;
  readonly isQuick: boolean;
  readonly machine: Machine;
  readonly versions: Versions;
  readonly settings: Readonly<Record<string, string>>;
  readonly targets: typeof TARGETS;
}

/** Of `-- --accounting` alone. */
export interface AccountingOnlyReport extends ReportHead {
  readonly accounting: AccountingReport;
}

export interface BenchReport extends AccountingOnlyReport {
  readonly engine: EngineSettings;
  readonly readyMs: { readonly firstStart: number; readonly secondStart: number };
  readonly golden: GoldenOutcome;
  readonly memory: MemoryReport;
  /** One question, 128 tokens of state. */
  readonly latencyOverhead: LatencyOverhead;
  /** One question, 512 tokens of state. */
  readonly throughput: ThroughputRatio;
  /** 1,000 tokens of state, 8 questions of 4 options, one client. */
  readonly document: LatencySummary;
  readonly grid: readonly LoadResult[];
  readonly peak: PeakReport;
}

const MEGABYTE = 1e6;

/** @param part of the bench, if it is not all of it. @returns path of the file: the day, and the host it was measured on */
export function writeReport(report: ReportHead, part?: string): string {
  const folder = resolve(import.meta.dirname, '..', 'results');
  mkdirSync(folder, { recursive: true });
  const marks = [...(part === undefined ? [] : [part]), ...(report.isQuick ? ['quick'] : [])];
  const name = [report.startedAt.slice(0, 10), report.machine.hostname, ...marks].join('-');
  const path = join(folder, `${name}.json`);
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
  return path;
}

export function formatReport(report: BenchReport): string {
  return [
    formatHead(report),
    formatEngine(report),
    formatTable([['measure', 'value', 'unit', 'target'], ...listFigures(report)]),
    formatAccounting(report.accounting),
    formatGrid(report.grid),
  ].join('\n\n');
}

export function formatAccountingOnly(report: AccountingOnlyReport): string {
  return [formatHead(report), formatAccounting(report.accounting)].join('\n\n');
}

function formatEngine({ engine }: BenchReport): string {
  return `${engine.workers} workers × ${engine.threadsPerWorker} threads on ${engine.device}`;
}

function formatHead({ machine, versions }: ReportHead): string {
  const load = formatNumber(machine.loadBefore);
  return [
    `umpire ${versions.umpire} ${versions.commit?.slice(0, 12) ?? ''}${versions.isDirty ? ' with changes' : ''}`,
    `${machine.cpu ?? 'unknown CPU'}, ${machine.cores} cores, ${machine.system}, node ${versions.node}, load before ${load}`,
  ].join('\n');
}

function listFigures(report: BenchReport): Cell[][] {
  const { latencyOverhead, throughput, memory, document, peak, readyMs } = report;
  const megabytes = (bytes: number | null): number => (bytes === null ? Number.NaN : bytes / MEGABYTE);
  const resident = megabytes(memory.afterDecisionsBytes);
  return [
    ['ready, first start', readyMs.firstStart, 'ms', ''],
    ['ready, second start', readyMs.secondStart, 'ms', judge(readyMs.secondStart, '≤', TARGETS.warmReadyMs)],
    ['decision, 128 tokens, 1 question: p50 over HTTP', latencyOverhead.http.p50Ms, 'ms', ''],
    ['  p50 of the bare loop', latencyOverhead.bareLoop.p50Ms, 'ms', ''],
    [
      '  overhead',
      latencyOverhead.p50OverheadMs,
      'ms',
      judge(latencyOverhead.p50OverheadMs, '≤', TARGETS.p50OverheadMs),
    ],
    [`decisions, 512 tokens, concurrency ${throughput.concurrency}`, throughput.httpPerSecond, '1/s', ''],
    ['  bare loops beside the client', throughput.bareBesideClientPerSecond, '1/s', ''],
    ['  bare loops alone', throughput.bareAlonePerSecond, '1/s', ''],
    ['  ratio beside the client', throughput.ratio, '', judge(throughput.ratio, '≥', TARGETS.throughputRatio)],
    ['  ratio to bare loops alone', throughput.ratioToBareAlone, '', ''],
    ['1,000 tokens, 8 questions × 4 options: p50', document.p50Ms, 'ms', ''],
    ['  p95', document.p95Ms, 'ms', judge(document.p95Ms, '≤', TARGETS.documentP95Ms)],
    ['memory after warm-up', megabytes(memory.afterWarmUpBytes), 'MB', ''],
    [`  after ${memory.decisions} decisions`, resident, 'MB', judge(resident, '≤', TARGETS.residentBytes / MEGABYTE)],
    ['  the same, shared pages once', megabytes(memory.afterDecisionsDistinctBytes), 'MB', ''],
    [`  peak with ${peak.stateTokens} tokens, 4 at a time`, megabytes(peak.peakBytes), 'MB', ''],
    ['  after that', megabytes(peak.afterBytes), 'MB', ''],
  ];
}

function formatGrid(grid: readonly LoadResult[]): string {
  const head = ['mix', 'clients', 'req/s', 'tokens/s', 'p50 ms', 'p95 ms', 'p99 ms', 'samples', 'refused', 'errors'];
  const rows = grid.map(
    ({ mix, concurrency, requestsPerSecond, tokensPerSecond, latency, refused, errors }): Cell[] => [
      mix,
      concurrency,
      requestsPerSecond,
      Math.round(tokensPerSecond),
      latency.p50Ms,
      latency.p95Ms,
      latency.p99Ms,
      latency.samples,
      refused,
      errors,
    ],
  );
  return formatTable([head, ...rows]);
}
