// The part `kept`, what a document that was read before costs: CPU time of the workers for a first and a second question about
// it, and for a transcript that only grew. The second question is another one, so no kept answer can help.

import { median } from '../load/statistics.ts';
import { makeDecisionAbout, makeDocument, makeRandom } from '../load/workload.ts';
import { sumCpuMs, sumWorkerCpuMs } from '../machine/processes.ts';
import { tableOf } from '../pages/table.ts';
import { type Member, withServers } from '../servers/fleet.ts';
import { umpire } from '../servers/umpire.ts';
import { definePart } from './part.ts';

const STATE_TOKENS = 2000;
const GROWN_TOKENS = 100;
const WARM_UP_PAIRS = 3;

async function measureKeptDocuments(pairs: number) {
  return await withServers({ own: umpire({ hasLimits: true }) }, async ({ own }) => {
    const random = makeRandom(2000);
    await measurePairs(own, { pairs: WARM_UP_PAIRS, grownTokens: 0, random });
    const same = await measurePairs(own, { pairs, grownTokens: 0, random });
    return { same, grown: await measurePairs(own, { pairs, grownTokens: GROWN_TOKENS, random }) };
  });
}

interface PairOptions {
  readonly pairs: number;
  /** Added to the document before the second call. */
  readonly grownTokens: number;
  readonly random: () => number;
}

type Call = Awaited<ReturnType<typeof call>>;

async function measurePairs(own: Member, { pairs, grownTokens, random }: PairOptions) {
  const calls: { readonly first: Call; readonly second: Call }[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const state = makeDocument(STATE_TOKENS, random);
    const later = grownTokens === 0 ? state : `${state} ${makeDocument(grownTokens, random)}`;
    calls.push({ first: await call(own, state, 0), second: await call(own, later, 1) });
  }
  const medianOf = (which: 'first' | 'second', part: keyof Call): number =>
    median(calls.map((pair) => pair[which][part]));
  const ratioOf = (part: keyof Call): number => median(calls.map(({ first, second }) => second[part] / first[part]));
  return {
    pairs,
    stateTokens: STATE_TOKENS,
    grownTokens,
    firstWorkerMs: medianOf('first', 'workerMs'),
    secondWorkerMs: medianOf('second', 'workerMs'),
    /** Second over first, the median of the pairs. */
    workerRatio: ratioOf('workerMs'),
    /** The same of the whole process: HTTP, accounting and store are in both. */
    processRatio: ratioOf('processMs'),
    firstP50Ms: medianOf('first', 'latencyMs'),
    secondP50Ms: medianOf('second', 'latencyMs'),
    keptTokens: medianOf('second', 'keptTokens'),
  };
}

/** Alone on the server: all the CPU it uses meanwhile is this call's. */
async function call({ process, client }: Member, state: string, firstQuestion: number) {
  const body = makeDecisionAbout(state, { questions: 1, kind: 'choice', firstQuestion });
  const pids = process.pids();
  const before = { workerMs: sumWorkerCpuMs(pids), processMs: sumCpuMs(pids) };
  const { latencyMs, headers } = await client.ask({ task: 'decision', body });
  return {
    workerMs: sumWorkerCpuMs(pids) - before.workerMs,
    processMs: sumCpuMs(pids) - before.processMs,
    latencyMs,
    keptTokens: Number(headers['x-umpire-kept-tokens'] ?? 0),
  };
}

export const kept = definePart({
  title: 'A document that was read before',
  measure: ({ effort }) => measureKeptDocuments(effort(40, 8)),
  write: ({ same, grown }) => [
    `${same.stateTokens} tokens, one question of 4 options, then another one. CPU time of worker threads, medians.`,
    tableOf([same, grown], {
      'second call': (row) =>
        row.grownTokens === 0 ? 'the same document' : `it has grown by ${row.grownTokens} tokens`,
      pairs: ({ pairs }) => pairs,
      'first, worker ms': ({ firstWorkerMs }) => firstWorkerMs,
      'second, worker ms': ({ secondWorkerMs }) => secondWorkerMs,
      ratio: ({ workerRatio }) => workerRatio,
      'ratio, whole process': ({ processRatio }) => processRatio,
      'first, p50 ms': ({ firstP50Ms }) => firstP50Ms,
      'second, p50 ms': ({ secondP50Ms }) => secondP50Ms,
      'kept tokens': ({ keptTokens }) => keptTokens,
    }),
  ],
});
