// What was promised of a comparison beside what was measured. A target with several classes is reached when it is in each of
// them. Pure.

import { GOODPUT_LIMIT_MS } from '../load/goodput.ts';
import { type ClosedCell, type ClosedFigures, medianRatio } from '../parts/closed.ts';
import type { Compared, ServerFigures } from '../parts/compared.ts';
import { foreign, listAheads } from '../parts/foreign.ts';
import type { OpenCell, OpenFigures } from '../parts/open.ts';
import type { Parts } from '../parts/parts.ts';
import { type Found, type JudgedTarget, judgeTarget as target } from './target.ts';

const CONCURRENCY = 8;
const OVERLOAD_SHARE = 2;
const STEADY_SHARE = 0.7;

export function judgeTargets(parts: Parts): JudgedTarget[] {
  return [
    ...judgeDecisions(parts.decisions?.figures),
    ...judgeDocuments(parts.decisions?.figures),
    ...judgeEmbeddings(parts.embeddings?.figures),
    ...judgeForeign(parts),
    ...judgeOpenLoops(parts.open?.figures),
    ...judgeOurs(parts),
  ];
}

/** @returns whether a cell is of a server of that kind */
function isOf(part: Compared | undefined, kind: ServerFigures['kind']) {
  const ids = (part?.servers ?? []).filter((server) => server.kind === kind).map(({ id }) => id);
  return ({ peer }: { readonly peer: string }): boolean => ids.includes(peer);
}

type Rate = 'requestsPerSecond' | 'tokensPerSecond';
type Compare = (ours: ClosedCell, rival: ClosedCell) => number;

/** Ours against the servers of a kind, of each kind the one that does best, by `rate`, in a cell that is wanted. */
function rivalsIn(part: ClosedFigures | undefined, rate: Rate, isWanted: (cell: ClosedCell) => boolean) {
  const bestOf = (kind: ServerFigures['kind']): ClosedCell | undefined => {
    const cells = (part?.cells ?? []).filter(isOf(part, kind));
    const able = cells.filter((cell) => isWanted(cell) && cell[rate] > 0);
    return able.sort((left, right) => right[rate] - left[rate])[0];
  };
  const ours = bestOf('ours');
  return (kind: 'as-written' | 'tuned', compare: Compare): Found => {
    const rival = bestOf(kind);
    return { value: ours && rival && compare(ours, rival), note: rival?.peer ?? '' };
  };
}

function judgeDecisions(part: ClosedFigures | undefined): JudgedTarget[] {
  return ['short', 'medium', 'mix'].flatMap((load) => {
    const isWanted = (cell: ClosedCell): boolean => cell.load === load && cell.concurrency === CONCURRENCY;
    const against = rivalsIn(part, 'requestsPerSecond', isWanted);
    const p99Ratio: Compare = (one, other) => one.latency.p99Ms / other.latency.p99Ms;
    const what = `decisions, ${load}, concurrency ${CONCURRENCY}:`;
    return [
      target(`${what} requests/s over the plain Python server`, ['≥', 1.5, '×'], against('as-written', medianRatio)),
      target(`${what} p99 over the plain Python server`, ['≤', 0.5, '×'], against('as-written', p99Ratio)),
      target(`${what} requests/s over the best-tuned one`, ['≥', 1.15, '×'], against('tuned', medianRatio)),
    ];
  });
}

function judgeDocuments(part: ClosedFigures | undefined): JudgedTarget[] {
  const p50Of = (load: string) =>
    part?.cells.filter(isOf(part, 'ours')).find((cell) => cell.load === load)?.latency.p50Ms;
  const four = p50Of('4000x8x4');
  const note = four === undefined ? '' : `with 4 options: ${four.toFixed(1)} ms`;
  const what = '4,000 tokens, 8 questions of 2 options, alone: p50';
  return [target(what, ['≤', 200, 'ms'], { value: p50Of('4000x8x2'), note })];
}

function judgeEmbeddings(part: ClosedFigures | undefined): JudgedTarget[] {
  return ['embed-1', 'embed-8', 'embed-64'].flatMap((load) => {
    const against = rivalsIn(part, 'tokensPerSecond', (cell) => cell.load === load);
    const rateRatio: Compare = (ours, rival) => ours.tokensPerSecond / rival.tokensPerSecond;
    const what = `${load}, each at its best concurrency: tokens/s over the best`;
    return [
      target(`${what} tuned peer`, ['≥', 1.2, '×'], against('tuned', rateRatio)),
      target(`${what} peer with its defaults`, ['≥', 2, '×'], against('as-written', rateRatio)),
    ];
  });
}

/** Ahead of whichever other does best there. Nothing of those that were not measured: they are many. */
function judgeForeign(parts: Parts): JudgedTarget[] {
  return (Object.keys(foreign) as (keyof typeof foreign)[]).flatMap((name) => {
    const figures = parts[name]?.figures;
    return (figures === undefined ? [] : listAheads(figures)).map(({ load, concurrency, ratio: value, rival }) => {
      const what = `${name}, ${load}, ${concurrency} at a time: requests/s over the best other`;
      return target(what, ['≥', 1, '×'], { value, note: rival });
    });
  });
}

function judgeOpenLoops(part: OpenFigures | undefined): JudgedTarget[] {
  const ours = (part?.cells ?? []).filter(isOf(part, 'ours'));
  const steady = ours.find((cell) => cell.load === 'short' && cell.share === STEADY_SHARE && !cell.hasDeadline);
  const note = steady === undefined ? '' : `${steady.latency.samples} answers`;
  const value = steady && steady.latency.p99Ms / steady.latency.p50Ms;
  return [
    target(`short at ${STEADY_SHARE} × capacity, Poisson arrivals: p99 over p50`, ['≤', 4, '×'], { value, note }),
    ...['short', 'mix'].flatMap((load) => judgeOverload(ours, load)),
  ];
}

function judgeOverload(ours: readonly OpenCell[], load: string): JudgedTarget[] {
  const cells = ours.filter((cell) => cell.load === load && cell.hasDeadline);
  const over = cells.find(({ share }) => share === OVERLOAD_SHARE);
  const best = Math.max(...cells.map(({ goodPerSecond }) => goodPerSecond));
  const at = `${load} at ${OVERLOAD_SHARE} × capacity with a deadline of ${GOODPUT_LIMIT_MS} ms`;
  const tell = (text: (cell: OpenCell) => string): string => (over === undefined ? '' : text(over));
  return [
    target(`${at}: goodput over the best`, ['≥', 0.85, '×'], {
      value: over && over.goodPerSecond / best,
      note: tell(({ goodPerSecond }) => `${goodPerSecond.toFixed(1)} of ${best.toFixed(1)} a second`),
    }),
    target(`${at}: slowest refusal`, ['≤', 10, 'ms'], { value: over?.refusal.maxMs, note: tell(tellRefusals) }),
  ];
}

function tellRefusals({ refusal }: OpenCell): string {
  return refusal.samples === 0 ? 'nobody was refused' : `p99 ${refusal.p99Ms.toFixed(1)} ms of ${refusal.samples}`;
}

function judgeOurs({ bare, kept, shares, memory }: Parts): JudgedTarget[] {
  const rows = shares?.figures.classes ?? [{ load: 'short', tokenizeShare: undefined, besideEngine: undefined }];
  const note = 'the client included';
  const around = 'HTTP, key, limits, ledger, validation around an engine that answers at once: p50';
  const loadedBytes = (workers: number) =>
    memory?.figures.find((row) => row.workers === workers && !row.keepsDocuments)?.loadedBytes ?? Number.NaN;
  return [
    target('512 tokens, 1 question: share of the bare-graph limit', ['≥', 0.9, '×'], { value: bare?.figures.ratio }),
    target('kept document of 2,000 tokens: worker CPU of the second call', ['≤', 0.25, '×'], {
      value: kept?.figures.same.workerRatio,
    }),
    ...rows.map(({ load, tokenizeShare: value }) =>
      target(`tokenising, ${load}: share of the engine's time`, ['≤', 0.01, '×'], { value }),
    ),
    target(around, ['≤', 1, 'ms'], { value: shares?.figures.withoutModel.p50Ms, note }),
    // Where workers share a request its times add up to more than the client waits: only what one worker does alone tells.
    ...rows
      .filter(({ load }) => load === 'short')
      .map(({ load, besideEngine }) =>
        target(`the same beside a real engine, ${load}: p50`, ['≤', 1, 'ms'], { value: besideEngine?.p50Ms, note }),
      ),
    target('memory of a second worker, under load', ['≤', 60, 'MB'], {
      value: (loadedBytes(2) - loadedBytes(1)) / 1e6,
    }),
  ];
}
