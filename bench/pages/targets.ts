// What was promised beside what was measured. What was not measured is said to be so, and a target with several classes is reached
// when it is in each of them. Pure.

import { GOODPUT_LIMIT_MS } from '../load/goodput.ts';
import type { ClosedCell } from '../parts/closed-part.ts';
import type { OpenCell } from '../parts/open-part.ts';
import type { ClosedPart, OpenPart, Parts, ServerFigures } from './peers-report.ts';

export type Outcome = 'reached' | 'missed' | 'not measured';

export interface JudgedTarget {
  readonly what: string;
  readonly relation: '≤' | '≥';
  readonly target: number;
  readonly unit: string;
  /** null: not measured. */
  readonly value: number | null;
  readonly outcome: Outcome;
  /** What the value is made of. */
  readonly note: string;
}

type Wanted = Pick<JudgedTarget, 'what' | 'relation' | 'target' | 'unit'>;
interface Found {
  readonly value: number | undefined;
  readonly note?: string;
}

const CONCURRENCY = 8;
const MEGABYTE = 1e6;
const OVERLOAD_SHARE = 2;
const STEADY_SHARE = 0.7;

export function judgeTarget(wanted: Wanted, { value, note = '' }: Found): JudgedTarget {
  if (value === undefined || Number.isNaN(value)) return { ...wanted, value: null, outcome: 'not measured', note };
  const isReached = wanted.relation === '≤' ? value <= wanted.target : value >= wanted.target;
  return { ...wanted, value, outcome: isReached ? 'reached' : 'missed', note };
}

export function judgeTargets(parts: Parts): JudgedTarget[] {
  return [
    ...judgeDecisions(parts.decisions?.figures),
    ...judgeDocuments(parts.decisions?.figures),
    ...judgeEmbeddings(parts.embeddings?.figures),
    ...judgeOpenLoops(parts.open?.figures),
    ...judgeOurs(parts),
  ];
}

/** Ours over others, in slices of the same round: what disturbed one disturbed the other. */
function medianRatio(ours: ClosedCell, other: ClosedCell): number {
  const ratios = ours.requestsPerSecondBySlice.map(
    (value, round) => value / (other.requestsPerSecondBySlice[round] ?? Number.NaN),
  );
  ratios.sort((a, b) => a - b);
  const middle = ratios.length / 2;
  return ((ratios[Math.ceil(middle) - 1] ?? Number.NaN) + (ratios[Math.floor(middle)] ?? Number.NaN)) / 2;
}

function idsOf(part: ClosedPart | OpenPart | undefined, kind: ServerFigures['kind']): string[] {
  return (part?.servers ?? []).filter((server) => server.kind === kind).map(({ id }) => id);
}

/** The rival that does best by `by`, at one load and concurrency. */
function bestOf(cells: readonly ClosedCell[], ids: readonly string[], by: (cell: ClosedCell) => number) {
  const own = cells.filter((cell) => ids.includes(cell.peer) && by(cell) > 0);
  return own.length === 0 ? undefined : own.reduce((top, cell) => (by(cell) > by(top) ? cell : top));
}

function judgeDecisions(part: ClosedPart | undefined): JudgedTarget[] {
  return ['short', 'medium', 'mix'].flatMap((load) => {
    const cells = (part?.cells ?? []).filter((cell) => cell.load === load && cell.concurrency === CONCURRENCY);
    const ours = bestOf(cells, idsOf(part, 'ours'), (cell) => cell.requestsPerSecond);
    const plain = bestOf(cells, idsOf(part, 'as-written'), (cell) => cell.requestsPerSecond);
    const tuned = bestOf(cells, idsOf(part, 'tuned'), (cell) => cell.requestsPerSecond);
    const what = (text: string): string => `decisions, ${load}, concurrency ${CONCURRENCY}: ${text}`;
    return [
      judgeTarget(
        { what: what('requests/s over the plain Python server'), relation: '≥', target: 1.5, unit: '×' },
        { value: ours && plain && medianRatio(ours, plain), note: plain?.peer ?? '' },
      ),
      judgeTarget(
        { what: what('p99 over the plain Python server'), relation: '≤', target: 0.5, unit: '×' },
        { value: ours && plain && ours.latency.p99Ms / plain.latency.p99Ms, note: plain?.peer ?? '' },
      ),
      judgeTarget(
        { what: what('requests/s over the best-tuned one'), relation: '≥', target: 1.15, unit: '×' },
        { value: ours && tuned && medianRatio(ours, tuned), note: tuned?.peer ?? '' },
      ),
    ];
  });
}

function judgeDocuments(part: ClosedPart | undefined): JudgedTarget[] {
  const ours = (load: string): ClosedCell | undefined =>
    part?.cells.find((cell) => cell.load === load && idsOf(part, 'ours').includes(cell.peer));
  const four = ours('4000x8x4')?.latency.p50Ms;
  return [
    judgeTarget(
      { what: '4,000 tokens, 8 questions of 2 options, alone: p50', relation: '≤', target: 200, unit: 'ms' },
      {
        value: ours('4000x8x2')?.latency.p50Ms,
        note: four === undefined ? '' : `with 4 options: ${four.toFixed(1)} ms`,
      },
    ),
  ];
}

function judgeEmbeddings(part: ClosedPart | undefined): JudgedTarget[] {
  return ['embed-1', 'embed-8', 'embed-64'].flatMap((load) => {
    const cells = (part?.cells ?? []).filter((cell) => cell.load === load);
    const tokens = (cell: ClosedCell): number => cell.tokensPerSecond;
    const ours = bestOf(cells, idsOf(part, 'ours'), tokens);
    const ratio = (kind: ServerFigures['kind']): Found => {
      const rival = bestOf(cells, idsOf(part, kind), tokens);
      return { value: ours && rival && ours.tokensPerSecond / rival.tokensPerSecond, note: rival?.peer ?? '' };
    };
    const what = `${load}, each at its best concurrency: tokens/s over the best`;
    return [
      judgeTarget({ what: `${what} tuned peer`, relation: '≥', target: 1.2, unit: '×' }, ratio('tuned')),
      judgeTarget({ what: `${what} peer with its defaults`, relation: '≥', target: 2, unit: '×' }, ratio('as-written')),
    ];
  });
}

function judgeOpenLoops(part: OpenPart | undefined): JudgedTarget[] {
  const ours = (part?.cells ?? []).filter(({ peer }) => idsOf(part, 'ours').includes(peer));
  const at = (load: string, share: number, hasDeadline: boolean): OpenCell | undefined =>
    ours.find((cell) => cell.load === load && cell.share === share && cell.hasDeadline === hasDeadline);
  return [
    judgeSteady(at('short', STEADY_SHARE, false)),
    ...['short', 'mix'].flatMap((load) => judgeOverload(ours, load)),
  ];
}

function judgeSteady(cell: OpenCell | undefined): JudgedTarget {
  return judgeTarget(
    {
      what: `short at ${STEADY_SHARE} × capacity, Poisson arrivals: p99 over p50`,
      relation: '≤',
      target: 4,
      unit: '×',
    },
    {
      value: cell && cell.latency.p99Ms / cell.latency.p50Ms,
      note: cell === undefined ? '' : `${cell.latency.samples} answers`,
    },
  );
}

function judgeOverload(ours: readonly OpenCell[], load: string): JudgedTarget[] {
  const cells = ours.filter((cell) => cell.load === load && cell.hasDeadline);
  const over = cells.find(({ share }) => share === OVERLOAD_SHARE);
  const best = Math.max(...cells.map(({ goodPerSecond }) => goodPerSecond));
  const at = `${load} at ${OVERLOAD_SHARE} × capacity with a deadline of ${GOODPUT_LIMIT_MS} ms`;
  return [
    judgeTarget(
      { what: `${at}: goodput over the best`, relation: '≥', target: 0.85, unit: '×' },
      {
        value: over && over.goodPerSecond / best,
        note: over === undefined ? '' : `${over.goodPerSecond.toFixed(1)} of ${best.toFixed(1)} a second`,
      },
    ),
    judgeTarget(
      { what: `${at}: slowest refusal`, relation: '≤', target: 10, unit: 'ms' },
      {
        value: over?.refusal.maxMs,
        note: over === undefined ? '' : tellRefusals(over),
      },
    ),
  ];
}

function tellRefusals({ refusal }: OpenCell): string {
  return refusal.samples === 0 ? 'nobody was refused' : `p99 ${refusal.p99Ms.toFixed(1)} ms of ${refusal.samples}`;
}

function judgeOurs({ bare, kept, shares, memory }: Parts): JudgedTarget[] {
  const shareRows = shares?.figures.classes ?? [{ load: 'short', tokenizeShare: undefined, besideEngine: undefined }];
  return [
    judgeTarget(
      { what: '512 tokens, 1 question: share of the bare-graph limit', relation: '≥', target: 0.9, unit: '×' },
      { value: bare?.figures.ratio },
    ),
    judgeTarget(
      { what: 'kept document of 2,000 tokens: worker CPU of the second call', relation: '≤', target: 0.25, unit: '×' },
      { value: kept?.figures.same.workerRatio },
    ),
    ...shareRows.map(({ load, tokenizeShare }) =>
      judgeTarget(
        { what: `tokenising, ${load}: share of the engine's time`, relation: '≤', target: 0.01, unit: '×' },
        { value: tokenizeShare },
      ),
    ),
    judgeTarget(
      {
        what: 'HTTP, key, limits, ledger, validation around an engine that answers at once: p50',
        relation: '≤',
        target: 1,
        unit: 'ms',
      },
      { value: shares?.figures.withoutModel.p50Ms, note: 'the client included' },
    ),
    // Where workers share a request its times add up to more than the client waits: only what one worker does alone tells.
    ...shareRows
      .filter(({ load }) => load === 'short')
      .map(({ load, besideEngine }) =>
        judgeTarget(
          { what: `the same beside a real engine, ${load}: p50`, relation: '≤', target: 1, unit: 'ms' },
          { value: besideEngine?.p50Ms, note: 'the client included' },
        ),
      ),
    judgeTarget(
      { what: 'memory of a second worker, under load', relation: '≤', target: 60, unit: 'MB' },
      { value: secondWorkerBytes(memory?.figures) },
    ),
  ];
}

function secondWorkerBytes(figures: NonNullable<Parts['memory']>['figures'] | undefined): number | undefined {
  const of = (workers: number): number | undefined =>
    figures?.find((row) => row.workers === workers && !row.keepsDocuments)?.loadedBytes ?? undefined;
  const [one, two] = [of(1), of(2)];
  return one === undefined || two === undefined ? undefined : (two - one) / MEGABYTE;
}
