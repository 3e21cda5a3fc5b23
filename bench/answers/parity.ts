// How far answers of one device are from those of another, question by question: not the same bits, but the same answers within
// a tolerance. What is asked, and the reckoning.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchClient, BenchReply } from '../load/client.ts';
import { sum } from '../load/statistics.ts';
import { DECISION_MODEL, type Job, type WireQuestion } from '../load/workload.ts';
import { ROOT } from '../machine/machine.ts';
import { type Answer, readAnswer, smallestCosine } from './answers.ts';
import { readGoldenDecisions, readGoldenEmbeddings } from './golden.ts';

export interface Parity {
  /** Of decisions. */
  readonly questions: number;
  /** Those with the same first choice. */
  readonly same: number;
  /** Of all probabilities. */
  readonly meanShift: number;
  readonly largestShift: number;
  readonly vectors: number;
  readonly smallestCosine: number;
}

export interface ParityLimits {
  /** Share of the questions, at least. */
  readonly same: number;
  readonly meanShift: number;
  readonly cosine: number;
}

/** The same weights in full precision, a row a run: what fp16 and neighbours in a run may move. */
export const BESIDE_FULL_PRECISION: ParityLimits = { same: 0.99, meanShift: 1e-3, cosine: 0.9999 };
/** int8 rounds what its layers read, which moves more than any device does: on these texts by 0.0045 (`models/training/TRIALS.md`). */
export const BESIDE_INT8: ParityLimits = { same: 0.97, meanShift: 7e-3, cosine: 0.99 };

/** Texts of a document that is read in several windows. */
const LONG_TEXTS = 20;
/** Inputs of one request for embeddings. */
const INPUTS = 16;

/**
 * People's messages with questions about them, one by one and many in a document; the golden cases; the same messages as inputs
 * of embeddings, alone and together. No answer to noise: its options are all alike, and anything would turn them.
 */
export async function listParityJobs(): Promise<Job[]> {
  const read = (file: string): string => readFileSync(join(ROOT, 'examples', 'data', file), 'utf8');
  const questions = JSON.parse(read('questions-described.json')) as Record<string, WireQuestion>;
  const lines = read('tickets.jsonl').trim().split('\n');
  const texts = lines.map((line) => (JSON.parse(line) as { readonly state: string }).state);
  const long = chunksOf(texts, LONG_TEXTS).map((some) => some.join('\n'));
  const decisions = [...texts, ...long].map(
    (state): Job => ({ task: 'decision', body: { model: DECISION_MODEL, state, questions } }),
  );
  const inputs = [...texts.map((text) => [text]), ...chunksOf(texts, INPUTS)];
  const golden = [...(await readGoldenDecisions()), ...(await readGoldenEmbeddings())];
  return [
    ...decisions,
    ...golden.map(({ job }) => job),
    ...inputs.map((some): Job => ({ task: 'embedding', inputs: some })),
  ];
}

function chunksOf<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, place) =>
    all.slice(place * size, (place + 1) * size),
  );
}

/** Each once, so many at a time; whoever is refused comes back. @returns in the order of the jobs */
export async function askAll(
  client: Pick<BenchClient, 'askUntilLetIn'>,
  jobs: readonly Job[],
  atOnce: number,
): Promise<BenchReply[]> {
  const replies: BenchReply[] = [];
  const waiting = jobs.entries();
  const askRest = async (): Promise<void> => {
    for (const [place, job] of waiting) replies[place] = await client.askUntilLetIn(job);
  };
  await Promise.all(Array.from({ length: atOnce }, askRest));
  return replies;
}

/** @throws if a reply is not what its job asked for */
export function readAnswers(jobs: readonly Job[], replies: readonly BenchReply[]): Answer[] {
  return jobs.map((job, place) => readAnswer(job, replies[place]?.text ?? ''));
}

/** Those that shared a run with others, as the server says. */
export function countShared(replies: readonly BenchReply[]): number {
  return replies.filter(({ headers }) => headers['x-umpire-tolerance'] !== undefined).length;
}

/** Answers to the same jobs, in the same order. @throws if one is missing */
export function reckonParity(expected: readonly Answer[], got: readonly Answer[]): Parity {
  const [shifts, cosines]: [number[], number[]] = [[], []];
  let [questions, same, vectors] = [0, 0, 0];
  for (const [place, wanted] of expected.entries()) {
    const found = got[place];
    if (found?.task !== wanted.task) throw new Error(`The ${place + 1}th answer is missing.`);
    if (wanted.task === 'embedding' || found.task === 'embedding') {
      vectors += wanted.task === 'embedding' ? wanted.vectors.length : 0;
      cosines.push(smallestCosine(wanted, found));
      continue;
    }
    for (const [question, probabilities] of wanted.probabilities.entries()) {
      const others = found.probabilities[question] ?? [];
      questions += 1;
      same += firstChoice(probabilities) === firstChoice(others) ? 1 : 0;
      shifts.push(
        ...probabilities.map((probability, option) => Math.abs(probability - (others[option] ?? Number.NaN))),
      );
    }
  }
  const most = shifts.reduce((largest, shift) => Math.max(largest, shift), 0);
  const least = cosines.reduce((smallest, cosine) => Math.min(smallest, cosine), 1);
  return {
    questions,
    same,
    meanShift: shifts.length === 0 ? Number.NaN : sum(shifts) / shifts.length,
    largestShift: shifts.length === 0 ? Number.NaN : most,
    vectors,
    smallestCosine: cosines.length === 0 ? Number.NaN : least,
  };
}

function firstChoice(probabilities: readonly number[]): number {
  return probabilities.indexOf(Math.max(...probabilities));
}

/** Written so that NaN is a fault. @returns in words; undefined: within the limits */
export function findParityFault(parity: Parity, limits: ParityLimits): string | undefined {
  const { questions, same, meanShift, smallestCosine: cosine } = parity;
  if (!(same / questions >= limits.same))
    return `${same} of ${questions} questions have the same first choice, and ${100 * limits.same} % should`;
  if (!(meanShift <= limits.meanShift))
    return `probabilities are ${meanShift.toExponential(1)} off on the mean, and may be ${limits.meanShift}`;
  return cosine >= limits.cosine
    ? undefined
    : `a vector has cosine ${cosine.toFixed(5)}, and at least ${limits.cosine} is due`;
}
