// The answers of peers beside ours, before anything is timed: who answers something else is not compared.

import { BenchClient } from '../load/client.ts';
import type { PeerAnswer, PeerJob, RunningPeer } from '../servers/peer.ts';
import { listDecisionCases, listEmbeddingCases } from './answer-cases.ts';

/** The same graphs by the same library: what remains is the order of sums in the readout. */
const MAX_PROBABILITY_DIFFERENCE = 1e-6;
/** int8 scales are those of a batch, so texts that shared one differ a little; so do int8 and float32. */
const MIN_COSINE = 0.99;

export interface AnswerComparison {
  readonly peer: string;
  readonly decisions: number;
  readonly largestProbabilityDifference: number | null;
  readonly embeddings: number;
  readonly smallestCosine: number | null;
}

/** @throws at the first answer of a peer that is not that of `ours` */
export async function compareAnswers(ours: RunningPeer, peers: readonly RunningPeer[]): Promise<AnswerComparison[]> {
  const jobs = [...listDecisionCases(), ...listEmbeddingCases()];
  const expected = new Map<PeerJob, PeerAnswer>();
  await ask(ours, jobs, (job, answer) => expected.set(job, answer));
  const comparisons: AnswerComparison[] = [];
  for (const peer of peers) {
    const probabilityDifferences: number[] = [];
    const cosines: number[] = [];
    await ask(peer, jobs, (job, answer) => {
      const wanted = expected.get(job);
      if (wanted?.task === 'decision') probabilityDifferences.push(differenceOf(wanted, answer));
      else if (wanted?.task === 'embedding') cosines.push(smallestCosine(wanted, answer));
    });
    comparisons.push(judge(peer, probabilityDifferences, cosines));
  }
  return comparisons;
}

function judge({ peer }: RunningPeer, differences: readonly number[], cosines: readonly number[]): AnswerComparison {
  const difference = differences.length === 0 ? null : Math.max(...differences);
  const cosine = cosines.length === 0 ? null : Math.min(...cosines);
  // Written so that NaN fails.
  if (difference !== null && !(difference <= MAX_PROBABILITY_DIFFERENCE)) {
    throw new Error(`${peer.id}: a probability differs from ours by ${difference}.`);
  }
  if (cosine !== null && !(cosine >= MIN_COSINE)) {
    throw new Error(`${peer.id}: a vector has cosine ${cosine} with ours.`);
  }
  return {
    peer: peer.id,
    decisions: differences.length,
    largestProbabilityDifference: difference,
    embeddings: cosines.length,
    smallestCosine: cosine,
  };
}

/** One request after the other; jobs of tasks that the peer does not do are left out. */
async function ask(
  { peer, origin, apiKey, requestFor, readAnswer }: RunningPeer,
  jobs: readonly PeerJob[],
  take: (job: PeerJob, answer: PeerAnswer) => void,
): Promise<void> {
  const client = new BenchClient(origin, apiKey, 1);
  try {
    for (const job of jobs.filter(({ task }) => peer.tasks.includes(task))) {
      const { path, body } = requestFor(job);
      const reply = await client.post(path, body);
      if (reply.status !== 200) throw new Error(`${peer.id} answered ${reply.status}: ${reply.text.slice(0, 500)}`);
      take(job, readAnswer(job, reply.text));
    }
  } finally {
    await client.close();
  }
}

/** The largest difference of two probabilities; NaN when there are not as many of them. */
export function differenceOf(expected: PeerAnswer, got: PeerAnswer): number {
  if (expected.task !== 'decision' || got.task !== 'decision') return Number.NaN;
  const differences = expected.probabilities.flatMap((question, index) => {
    const answer = got.probabilities[index] ?? [];
    if (answer.length !== question.length) return [Number.NaN];
    return question.map((probability, option) => Math.abs(probability - (answer[option] ?? Number.NaN)));
  });
  return Math.max(...differences);
}

/** The smallest cosine of two vectors; NaN when they are not of the same number and length. */
export function smallestCosine(expected: PeerAnswer, got: PeerAnswer): number {
  if (expected.task !== 'embedding' || got.task !== 'embedding') return Number.NaN;
  const cosines = expected.vectors.map((vector, index) => cosineOf(vector, got.vectors[index] ?? new Float32Array()));
  return Math.min(...cosines);
}

function cosineOf(left: Float32Array, right: Float32Array): number {
  if (left.length !== right.length) return Number.NaN;
  let product = 0;
  let leftSquares = 0;
  let rightSquares = 0;
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? Number.NaN;
    product += value * other;
    leftSquares += value * value;
    rightSquares += other * other;
  }
  return product / Math.sqrt(leftSquares * rightSquares);
}
