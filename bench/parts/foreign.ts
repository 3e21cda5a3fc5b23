// The parts `embedder-fp32`, `embedder-int8`, `judge-fp32` and `judge-int8`: models as a hub has them, in closed loops, ours beside
// others that run the same files.

import { type LoadClass, seedOf, streamOf } from '../load/loads.ts';
import { decisionJob, type Job, makeDocument } from '../load/workload.ts';
import { columns, formatNumber, tableOf } from '../pages/table.ts';
import { type ForeignModel, idOf, listForeignServers, provideModel } from '../servers/foreign-servers.ts';
import { type ClosedCell, measureClosedLoops, medianRatio } from './closed.ts';
import { titlesOf, withComparedServers } from './compared.ts';
import { type Bench, definePart } from './part.ts';

const CONCURRENCIES = [1, 8];
const TEXT_WORDS = [20, 100, 300];
const ANSWERS_COMPARED = 2;
/** Who would take longer is left out there. */
const MAX_SLICE_MS = 20_000;
/** int8 scales are those of all rows that are run together. */
const LIMITS = {
  fp32: { maxDifference: 1e-5, minCosine: 0.999_999 },
  int8: { maxDifference: 0.05, minCosine: 0.99 },
};
const TITLES = {
  embedding: 'Embeddings of a BERT-base-sized model',
  decision: 'Decisions of a DeBERTa-v3-small-sized model',
};

export type ForeignFigures = Awaited<ReturnType<typeof measureForeign>>;

async function measureForeign(bench: Bench, model: ForeignModel) {
  const { environments, say } = bench;
  provideModel(model, environments);
  const servers = listForeignServers(model, environments);
  const [rounds, sliceMs] = [bench.rounds(2, 1), bench.effort(1500, 600)];
  const classes = TEXT_WORDS.map((words) => classOf(model, words));
  const cases = { jobs: classes.flatMap(listCases), limits: LIMITS[model.precision] };
  const plan = { classes, concurrencies: CONCURRENCIES, rounds, sliceMs, maxSliceMs: MAX_SLICE_MS, say };
  return await withComparedServers(
    { servers, classes, cases, startsTwice: false, say },
    async ({ fleet, compared }) => {
      const { cells } = await measureClosedLoops({ ...plan, fleet });
      return { ...compared(), rounds, sliceMs, cells };
    },
  );
}

function classOf(model: ForeignModel, words: number): LoadClass {
  const makeJob = (random: () => number): Job => {
    if (model.task === 'embedding')
      return { task: 'embedding', inputs: [makeDocument(words, random)], model: idOf(model) };
    const { task, body } = decisionJob({ stateTokens: words, questions: 1, kind: 'choice' }, random);
    return { task, body: { ...body, model: idOf(model) } };
  };
  const title = `${words} words`;
  const make: LoadClass['make'] = (random) => ({ job: makeJob(random), tokens: words, group: title });
  return { id: title, title, task: model.task, concurrencies: CONCURRENCIES, make };
}

function listCases(load: LoadClass): Job[] {
  return Array.from({ length: ANSWERS_COMPARED }, streamOf(load, seedOf('answers', load.id))).map(({ job }) => job);
}

/** Ours over whichever other does best, at each load. */
export function listAheads({ servers, cells }: ForeignFigures) {
  const ourId = servers.find(({ kind }) => kind === 'ours')?.id;
  return cells
    .filter(({ peer }) => peer === ourId)
    .map((ours) => {
      const isRival = (cell: ClosedCell): boolean =>
        cell.peer !== ourId && cell.load === ours.load && cell.concurrency === ours.concurrency;
      const [best] = cells.filter(isRival).sort((a, b) => b.requestsPerSecond - a.requestsPerSecond);
      const ratio = best === undefined ? Number.NaN : medianRatio(ours, best);
      return { load: ours.load, concurrency: ours.concurrency, ratio, rival: best?.peer ?? '' };
    });
}

function writeForeign(figures: ForeignFigures): string[] {
  const { rounds, sliceMs, servers, answers } = figures;
  const titleOf = titlesOf(figures);
  const settings = servers.map(({ title, settings: set }) => {
    const entries = Object.entries(set).filter(([name]) => name !== 'UMPIRE_MODELS');
    return `- **${title}**: ${entries.map(([name, value]) => `\`${name}=${value}\``).join(', ')}`;
  });
  return [
    `${rounds} rounds of slices of ${sliceMs} ms, servers in turns. Random weights; every request is one new text, a decision has four options.`,
    tableOf(
      figures.cells.map((cell) => ({ ...cell, server: titleOf(cell.peer) })),
      {
        ...columns('load', 'at a time', 'server', 'req/s', 'p50 ms', 'p95 ms', 'p99 ms', 'answers', 'errors'),
        'CPU ms': ({ cpuMs }) => cpuMs,
      },
    ),
    tableOf(listAheads(figures), {
      ...columns('load', 'at a time'),
      'ours over the best other': ({ ratio }) => `${formatNumber(ratio)} ×`,
      'which is': ({ rival }) => titleOf(rival),
    }),
    settings.join('\n'),
    'Answers compared with ours before anything was timed:',
    tableOf(answers, {
      server: ({ peer }) => titleOf(peer),
      answers: ({ decisions, embeddings }) => decisions + embeddings,
      'largest difference of a probability': (answer) => answer.largestProbabilityDifference?.toExponential(1) ?? '–',
      'smallest cosine': ({ smallestCosine }) => smallestCosine?.toFixed(8) ?? '–',
    }),
  ];
}

function foreignPart(model: ForeignModel) {
  return definePart({
    title: `${TITLES[model.task]}, ${model.precision}`,
    measure: (bench) => measureForeign(bench, model),
    write: writeForeign,
  });
}

export const foreign = {
  'embedder-fp32': foreignPart({ task: 'embedding', precision: 'fp32' }),
  'embedder-int8': foreignPart({ task: 'embedding', precision: 'int8' }),
  'judge-fp32': foreignPart({ task: 'decision', precision: 'fp32' }),
  'judge-int8': foreignPart({ task: 'decision', precision: 'int8' }),
};
