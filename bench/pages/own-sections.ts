// The parts of a comparison's page that are about our server alone. Pure.

import type { Figures } from './peers-report.ts';
import { latencyColumns, markdownTable, same, tableOf, toMegabytes } from './table.ts';

export function keptSection({ same, grown }: Figures['kept']): string[] {
  return [
    `${same.stateTokens} tokens, one question of 4 options, then another one. CPU time of worker threads, medians.`,
    tableOf([same, grown], {
      'second call': ({ grownTokens }) =>
        grownTokens === 0 ? 'the same document' : `it has grown by ${grownTokens} tokens`,
      pairs: ({ pairs }) => pairs,
      'first, worker ms': ({ firstWorkerMs }) => firstWorkerMs,
      'second, worker ms': ({ secondWorkerMs }) => secondWorkerMs,
      ratio: ({ workerRatio }) => workerRatio,
      'ratio, whole process': ({ processRatio }) => processRatio,
      'first, p50 ms': ({ firstP50Ms }) => firstP50Ms,
      'second, p50 ms': ({ secondP50Ms }) => secondP50Ms,
      'kept tokens': ({ keptTokens }) => keptTokens,
    }),
  ];
}

export function shareSection({ classes, withoutModel, clientAlone, samplesPerClass }: Figures['shares']): string[] {
  const without = [
    { to: 'our server around an engine that answers at once', latency: withoutModel },
    { to: 'an endpoint that does nothing', latency: clientAlone },
  ];
  return [
    `One request at a time, ${samplesPerClass} of each class, a key with a budget and every limit. Beside the engine: what the client waited beyond queue, tokenising and model.`,
    tableOf(classes, {
      ...same('load'),
      'p50 ms': ({ p50Ms }) => p50Ms,
      'tokenising, ms': ({ tokenizeP50Ms }) => tokenizeP50Ms,
      'of the engine': ({ tokenizeShare }) => `${(100 * tokenizeShare).toFixed(2)} %`,
      'beside the engine, p50 ms': ({ besideEngine }) => besideEngine.p50Ms,
      'p99 ms': ({ besideEngine }) => besideEngine.p99Ms,
    }),
    tableOf(without, {
      'requests of the short class to': ({ to }) => to,
      ...latencyColumns('p50', 'p95', 'p99'),
    }),
  ];
}

export function bareSection(figures: Figures['bare']): string[] {
  const { ratio, ratioToBareAlone } = figures;
  const rows = [
    ['our server over HTTP', figures.httpPerSecond, ''],
    ['bare loops beside the same client', figures.bareBesideClientPerSecond, ratio.toFixed(3)],
    ['bare loops alone', figures.bareAlonePerSecond, ratioToBareAlone.toFixed(3)],
  ];
  return [
    `Decisions of 512 tokens with one question, ${figures.concurrency} at a time, against bare loops of the same graphs on ${figures.workers} workers.`,
    markdownTable([['what', 'per second', 'share that the server reaches'], ...rows]),
  ];
}

export function memorySection(figures: Figures['memory']): string[] {
  return [
    'Proportional set size: shared pages count once. After decisions of the short class and the mix, four at a time.',
    tableOf(figures, {
      ...same('workers'),
      'keeps documents': ({ keepsDocuments }) => (keepsDocuments ? 'yes' : 'no'),
      'ready, MB': ({ startedBytes }) => toMegabytes(startedBytes),
      'after load, MB': ({ loadedBytes }) => toMegabytes(loadedBytes),
    }),
  ];
}

export function splitSection({ rounds, sliceMs, classes, cells }: Figures['splits']): string[] {
  const titles = classes.map(({ id, title }) => `${id}: ${title}`).join('; ');
  return [
    `Our server with its cores split in two ways, workers × threads of each; ${rounds} rounds of slices of ${sliceMs} ms, in turns. ${titles}.`,
    tableOf(cells, {
      ...same('load'),
      'at a time': ({ concurrency }) => concurrency,
      split: ({ peer }) => peer,
      'req/s': ({ requestsPerSecond }) => requestsPerSecond,
      ...latencyColumns('p50', 'p95', 'p99'),
      answers: ({ latency }) => latency.samples,
    }),
  ];
}
