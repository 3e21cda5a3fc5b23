// The result of `npm run bench`: its shape, the tables on the screen, and the file in bench/results.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Machine, ROOT, tellVersion, type Versions } from '../machine/machine.ts';
import { isQuiet } from '../machine/quiet.ts';
import { ACCOUNTING_TARGETS, type AccountingFigures, formatAccounting } from '../parts/accounting.ts';
import type { OwnFigures } from '../parts/own-server.ts';
import { type Cell, formatNumber, formatPercent, formatTable, toMegabytes } from './table.ts';
import { judge } from './target.ts';

/** What the issue of a release promises; a figure beyond it is marked, not hidden. */
export const TARGETS = {
  p50OverheadMs: 2,
  throughputRatio: 0.9,
  documentP95Ms: 200,
  residentBytes: 450e6,
  warmReadyMs: 3000,
  accounting: ACCOUNTING_TARGETS,
} as const;

/** What a report was measured on. */
export type Measured = Pick<OwnReport, 'machine' | 'versions' | 'othersShare'>;

/** When and on what a report was measured, and with which settings. */
export interface ReportHead {
  readonly format: 1;
  readonly startedAt: string;
  readonly isQuick: boolean;
  readonly machine: Machine;
  readonly versions: Versions;
  readonly settings: Readonly<Record<string, string>>;
  /** What others used of all processors meanwhile; null where the system does not say. */
  readonly othersShare: number | null;
}

export interface OwnReport extends ReportHead {
  readonly targets: typeof TARGETS;
  /** undefined: accounting was measured alone */
  readonly own: OwnFigures | undefined;
  readonly accounting: AccountingFigures;
}

/** @returns path of the file: the day, the host it was measured on, and the part if it is not all of the bench */
export function writeOwnReport({ own, ...report }: OwnReport): string {
  const folder = join(ROOT, 'bench', 'results');
  mkdirSync(folder, { recursive: true });
  const marks = [...(own === undefined ? ['accounting'] : []), ...(report.isQuick ? ['quick'] : [])];
  const path = join(folder, `${[report.startedAt.slice(0, 10), report.machine.hostname, ...marks].join('-')}.json`);
  writeFileSync(path, `${JSON.stringify({ ...report, ...own }, null, 2)}\n`);
  return path;
}

export function formatOwnReport(report: OwnReport): string {
  const { own } = report;
  const accounting = formatAccounting(report.accounting);
  if (own === undefined) return [formatHead(report), accounting].join('\n\n');
  const { workers, threadsPerWorker, device } = own.engine;
  return [
    formatHead(report),
    `${workers} workers × ${threadsPerWorker} threads on ${device}`,
    formatTable([['measure', 'value', 'unit', 'target'], ...listFigures(own)]),
    accounting,
    formatGrid(own.grid),
  ].join('\n\n');
}

export function formatHead({ machine, versions, othersShare }: Measured): string {
  const others = othersShare === null ? 'cannot be read' : formatPercent(othersShare);
  const noisy = isQuiet(othersShare) ? '' : ': THE MACHINE WAS NOT QUIET, figures are not for quoting';
  return [
    `umpire ${tellVersion(versions)}`,
    `${machine.cpu ?? 'unknown CPU'}, ${machine.cores} cores, ${machine.system}, node ${versions.node}, load before ${formatNumber(machine.loadBefore)}`,
    `what others used of the processors meanwhile: ${others}${noisy}`,
  ].join('\n');
}

function listFigures(figures: OwnFigures): Cell[][] {
  const { latencyOverhead, throughput, memory, document, peak, readyMs } = figures;
  const overheadMs = latencyOverhead.p50OverheadMs;
  const resident = toMegabytes(memory.afterDecisionsBytes);
  return [
    ['ready, first start', readyMs.firstStart, 'ms', ''],
    ['ready, second start', readyMs.secondStart, 'ms', judge(readyMs.secondStart, '≤', TARGETS.warmReadyMs)],
    ['decision, 128 tokens, 1 question: p50 over HTTP', latencyOverhead.http.p50Ms, 'ms', ''],
    ['  p50 of the bare loop', latencyOverhead.bareLoop.p50Ms, 'ms', ''],
    ['  overhead', overheadMs, 'ms', judge(overheadMs, '≤', TARGETS.p50OverheadMs)],
    [`decisions, 512 tokens, concurrency ${throughput.concurrency}`, throughput.httpPerSecond, '1/s', ''],
    ['  bare loops beside the client', throughput.bareBesideClientPerSecond, '1/s', ''],
    ['  bare loops alone', throughput.bareAlonePerSecond, '1/s', ''],
    ['  ratio beside the client', throughput.ratio, '', judge(throughput.ratio, '≥', TARGETS.throughputRatio)],
    ['  ratio to bare loops alone', throughput.ratioToBareAlone, '', ''],
    ['1,000 tokens, 8 questions × 4 options: p50', document.p50Ms, 'ms', ''],
    ['  p95', document.p95Ms, 'ms', judge(document.p95Ms, '≤', TARGETS.documentP95Ms)],
    ['memory after warm-up', toMegabytes(memory.afterWarmUpBytes), 'MB', ''],
    [`  after ${memory.decisions} decisions`, resident, 'MB', judge(resident, '≤', toMegabytes(TARGETS.residentBytes))],
    ['  the same, shared pages once', toMegabytes(memory.afterDecisionsDistinctBytes), 'MB', ''],
    [`  peak with ${peak.stateTokens} tokens, 4 at a time`, toMegabytes(peak.peakBytes), 'MB', ''],
    ['  after that', toMegabytes(peak.afterBytes), 'MB', ''],
  ];
}

function formatGrid(grid: OwnFigures['grid']): string {
  const head = ['mix', 'clients', 'req/s', 'tokens/s', 'p50 ms', 'p95 ms', 'p99 ms', 'samples', 'refused', 'errors'];
  const rows = grid.map(
    ({ mix, concurrency, requestsPerSecond, tokensPerSecond, latency, refused, errors }): Cell[] => {
      const { p50Ms, p95Ms, p99Ms, samples } = latency;
      const rates = [requestsPerSecond, Math.round(tokensPerSecond)];
      return [mix, concurrency, ...rates, p50Ms, p95Ms, p99Ms, samples, refused, errors];
    },
  );
  return formatTable([head, ...rows]);
}
