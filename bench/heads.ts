// What heads add to a decision of their base: `npm run bench:heads`. Decisions by the base and by a learned model over it
// take turns in one engine with one worker, each on a document of its own, by CPU time of the process, all threads included;
// what is added is the median of the differences. Beside it what of that the heads take on the main thread; the rest is the
// document's vector and the question's view.

import { join } from 'node:path';
import type { Question } from '../src/domain/question.ts';
import { sum } from '../src/domain/sum.ts';
import { LearnedEngine } from '../src/engine/learned/learned-engine.ts';
import { createLocalEngine } from '../src/engine/local-engine.ts';
import { answerLearned, findLearned } from '../src/learning/answer-learned.ts';
import type { LearnedModel } from '../src/learning/learned-model.ts';
import { learnedQuestion } from '../test/app/learned/learned-draft.ts';
import { median } from './load/statistics.ts';
import { DECISION_MODEL, makeDocument, makeRandom } from './load/workload.ts';
import { ROOT } from './machine/machine.ts';
import { type Cell, formatPercent, formatTable } from './pages/table.ts';

/** Of the document's vector and of the question's view. */
const PARTS = [384, 384];
const DIMENSIONS = sum(PARTS);
const LEARNED = 'learned';
const CASES = [
  { tokens: 30, options: 4, pairs: 200 },
  { tokens: 120, options: 10, pairs: 120 },
  { tokens: 240, options: 77, pairs: 40 },
  { tokens: 1000, options: 10, pairs: 30 },
];
/** Before they are timed, the code of both is compiled and the graphs are warm. */
const WARM_PAIRS = 10;
const HEAD_CALLS = 300;

const random = makeRandom(17);

function askOf(options: number): Question {
  const named = Array.from({ length: options }, (_, i) => ({
    name: `${makeDocument(2, random)} ${i}`,
    description: null,
  }));
  return { type: 'choice', instructions: `Which of ${options} teams should handle this?`, options: named };
}

function learnedOver(questions: readonly Question[], digest: string): LearnedModel {
  const learned = questions.map((question) => {
    const draft = learnedQuestion(question, 1, DIMENSIONS);
    const parts = PARTS.map((dimensions) => ({ dimensions, isUnit: true }));
    return { ...draft, head: { ...draft.head, parts, weights: draft.head.weights.map(() => random() - 0.5) } };
  });
  const base = { id: DECISION_MODEL, digest };
  return { id: LEARNED, base, embedder: undefined, dimensions: DIMENSIONS, questions: learned };
}

const questions = CASES.map(({ options }) => askOf(options));
const engine = await createLocalEngine({
  modelFolders: [join(ROOT, 'models', DECISION_MODEL)],
  device: 'cpu',
  allowDeviceFallback: false,
  workers: 1,
  threadsPerWorker: 1,
  cacheFolder: undefined,
  stateCacheBytes: 0,
  queue: { maxJobs: 10, maxCostMs: 600_000, deadlineMs: 600_000 },
  probe: { intervalMs: 0, timeoutMs: 600_000 },
  onEvent: () => undefined,
});
await engine.ready;
const [card] = engine.models;
if (card?.digest === undefined) throw new Error('the decision model has no digest');
const model = learnedOver(questions, card.digest);
const learning = new LearnedEngine(engine);
learning.put(model, { ...card, id: LEARNED });
const caller = { keyId: 'bench', signal: new AbortController().signal };

/** @returns milliseconds of CPU time */
async function timeDecision(modelId: string, tokens: number, question: Question): Promise<number> {
  const job = { modelId, state: makeDocument(tokens, random), questions: [question] };
  const started = process.cpuUsage();
  await learning.ticketFor(job, caller).run();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

/** Base and learned model by turns, each of them first every other time. */
async function timePairs(tokens: number, question: Question, pairs: number) {
  const times: { readonly base: number; readonly learned: number }[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? [DECISION_MODEL, LEARNED] : [LEARNED, DECISION_MODEL];
    const taken = new Map<string, number>();
    for (const modelId of order) taken.set(modelId, await timeDecision(modelId, tokens, question));
    times.push({ base: taken.get(DECISION_MODEL) ?? Number.NaN, learned: taken.get(LEARNED) ?? Number.NaN });
  }
  return times;
}

/** @returns milliseconds of one look-up and one head on this thread */
function timeHead(question: Question, options: number): number {
  const vector = Float32Array.from({ length: DIMENSIONS }, random);
  const zeroShot = Array.from({ length: options }, () => 1 / options);
  const times = Array.from({ length: HEAD_CALLS }, () => {
    const startedMs = performance.now();
    const match = findLearned(model.questions, question);
    if (match === undefined) throw new Error('the question was not learned');
    answerLearned(match, zeroShot, vector);
    return performance.now() - startedMs;
  });
  return median(times);
}

const rows: Cell[][] = [
  ['tokens', 'options', 'base, ms', 'learned, ms', 'added, ms', 'added', 'heads on the main thread, ms'],
];
for (const [place, { tokens, options, pairs }] of CASES.entries()) {
  const question = questions[place];
  if (question === undefined) throw new Error('a case has no question');
  await timePairs(tokens, question, WARM_PAIRS);
  const times = await timePairs(tokens, question, pairs);
  const base = median(times.map((pair) => pair.base));
  const added = median(times.map((pair) => pair.learned - pair.base));
  const learned = median(times.map((pair) => pair.learned));
  process.stderr.write(`${tokens} tokens: ${formatPercent(added / base)}\n`);
  rows.push([tokens, options, base, learned, added, formatPercent(added / base), timeHead(question, options)]);
}
await engine.drain();
process.stdout.write(`${formatTable(rows)}\n`);
