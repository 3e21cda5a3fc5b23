// The parts of the page that are about our server alone. Pure.

import type { BareFigures } from '../parts/bare-limit.ts';
import type { KeptFigures } from '../parts/kept-document.ts';
import type { ShareFigures } from '../parts/shares.ts';
import type { SplitFigures } from '../parts/splits.ts';
import type { MemoryFigures } from '../parts/worker-memory.ts';
import { markdownTable } from './markdown.ts';
import type { Cell } from './table.ts';

export function keptSection({ same, grown }: KeptFigures): string[] {
  const head = ['second call', 'pairs', 'first, worker ms', 'second, worker ms', 'ratio', 'ratio, whole process'];
  const rows = [same, grown].map((pair): Cell[] => [
    pair.grownTokens === 0 ? 'the same document' : `it has grown by ${pair.grownTokens} tokens`,
    pair.pairs,
    pair.firstWorkerMs,
    pair.secondWorkerMs,
    pair.workerRatio,
    pair.processRatio,
    pair.firstP50Ms,
    pair.secondP50Ms,
    pair.keptTokens,
  ]);
  return [
    '## A document that was read before',
    `${same.stateTokens} tokens, one question of 4 options, then another one. CPU time of worker threads, medians.`,
    markdownTable([[...head, 'first, p50 ms', 'second, p50 ms', 'kept tokens'], ...rows]),
  ];
}

export function shareSection({ classes, withoutModel, clientAlone, samplesPerClass }: ShareFigures): string[] {
  const rows = classes.map((row): Cell[] => {
    const { p50Ms, p99Ms } = row.besideEngine;
    return [row.load, row.p50Ms, row.tokenizeP50Ms, `${(100 * row.tokenizeShare).toFixed(2)} %`, p50Ms, p99Ms];
  });
  return [
    '## What is not the model',
    `One request at a time, ${samplesPerClass} of each class, a key with a budget and every limit. Beside the engine: what the client waited beyond queue, tokenising and model.`,
    markdownTable([
      ['load', 'p50 ms', 'tokenising, ms', 'of the engine', 'beside the engine, p50 ms', 'p99 ms'],
      ...rows,
    ]),
    markdownTable([
      ['requests of the short class to', 'p50 ms', 'p95 ms', 'p99 ms'],
      ['our server around an engine that answers at once', withoutModel.p50Ms, withoutModel.p95Ms, withoutModel.p99Ms],
      ['an endpoint that does nothing', clientAlone.p50Ms, clientAlone.p95Ms, clientAlone.p99Ms],
    ]),
  ];
}

export function bareSection(figures: BareFigures): string[] {
  const { concurrency, workers, httpPerSecond, bareBesideClientPerSecond, bareAlonePerSecond } = figures;
  return [
    '## How much of the machine is used',
    `Decisions of 512 tokens with one question, ${concurrency} at a time, against bare loops of the same graphs on ${workers} workers.`,
    markdownTable([
      ['what', 'per second', 'share that the server reaches'],
      ['our server over HTTP', httpPerSecond, ''],
      ['bare loops beside the same client', bareBesideClientPerSecond, figures.ratio.toFixed(3)],
      ['bare loops alone', bareAlonePerSecond, figures.ratioToBareAlone.toFixed(3)],
    ]),
  ];
}

export function memorySection(figures: readonly MemoryFigures[]): string[] {
  const megabytes = (bytes: number | null): number => (bytes === null ? Number.NaN : bytes / 1e6);
  const rows = figures.map((row): Cell[] => {
    return [row.workers, row.keepsDocuments ? 'yes' : 'no', megabytes(row.startedBytes), megabytes(row.loadedBytes)];
  });
  return [
    '## Memory of our server',
    'Proportional set size: shared pages count once. After decisions of the short class and the mix, four at a time.',
    markdownTable([['workers', 'keeps documents', 'ready, MB', 'after load, MB'], ...rows]),
  ];
}

export function splitSection({ rounds, sliceMs, classes, cells }: SplitFigures): string[] {
  const rows = cells.map(({ load, concurrency, peer, requestsPerSecond, latency }): Cell[] => {
    const { p50Ms, p95Ms, p99Ms, samples } = latency;
    return [load, concurrency, peer, requestsPerSecond, p50Ms, p95Ms, p99Ms, samples];
  });
  return [
    '## Workers and their threads',
    `Our server with its cores split in two ways, workers × threads of each; ${rounds} rounds of slices of ${sliceMs} ms, in turns. ${classes.map(({ id, title }) => `${id}: ${title}`).join('; ')}.`,
    markdownTable([['load', 'at a time', 'split', 'req/s', 'p50 ms', 'p95 ms', 'p99 ms', 'answers'], ...rows]),
  ];
}
