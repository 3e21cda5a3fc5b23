// Answers before anything is timed: what is fast and wrong is not fast. Ours are compared with the golden ones, those of others
// with ours: who answers something else is not compared.

import type { BenchClient } from '../load/client.ts';
import { decisionJob, type Job } from '../load/workload.ts';
import type { Member } from '../servers/fleet.ts';
import { listAnswerCases } from './answer-cases.ts';
import { type Answer, differenceOf, readAnswer, readInputTokens, smallestCosine } from './answers.ts';
import { readGoldenDecisions, readGoldenEmbeddings } from './golden.ts';

/** int8 on another CPU may differ a little; the server's own check at its start is as strict. */
const MAX_GOLDEN_DIFFERENCE = 0.05;
export interface AnswerLimits {
  /** Of two probabilities. */
  readonly maxDifference: number;
  readonly minCosine: number;
}

/**
 * The same graphs by the same library: what remains is the order of sums in the readout. int8 scales are those of a batch, so
 * vectors of texts that shared one differ a little; so do int8 and float32.
 */
const SHIPPED_LIMITS: AnswerLimits = { maxDifference: 1e-6, minCosine: 0.99 };

export type AnswerComparison = Awaited<ReturnType<typeof compareOne>>;

/** @throws at the first answer that is not the golden one */
export async function checkGolden(client: BenchClient) {
  const comparison = new Comparison('umpire', { ...SHIPPED_LIMITS, maxDifference: MAX_GOLDEN_DIFFERENCE });
  const golden = [...(await readGoldenDecisions()), ...(await readGoldenEmbeddings())];
  for (const { job, inputTokens, answer } of golden) {
    const { text } = await client.ask(job);
    comparison.add(answer, readAnswer(job, text));
    if (job.task === 'decision') expectTokens(readInputTokens(text), inputTokens);
  }
  // The words of the workload are one token each: a document of n tokens is counted as n more than an empty one.
  const count = async (stateTokens: number): Promise<number> =>
    readInputTokens((await client.ask(decisionJob({ stateTokens, questions: 1 }))).text);
  expectTokens((await count(2000)) - (await count(0)), 2000);
  const { decisions, embeddings, largestProbabilityDifference, smallestCosine: cosine } = comparison.summarise();
  return { decisions, embeddings, largestProbabilityDifference, smallestCosine: cosine };
}

function expectTokens(got: number, expected: number): void {
  if (got !== expected) throw new Error(`Wrong number of tokens: ${got} instead of ${expected}.`);
}

export interface AnswerCases {
  readonly jobs: readonly Job[];
  readonly limits: AnswerLimits;
}

/** @param cases default: those of the shipped models @throws at the first answer of another that is not ours */
export async function compareAnswers(members: readonly Member[], cases?: AnswerCases): Promise<AnswerComparison[]> {
  const ours = members.find(({ server }) => server.kind === 'ours');
  if (ours === undefined) throw new Error('Answers are compared with ours: umpire must be among the servers.');
  const others = members.filter((member) => member !== ours);
  const tasks = new Set(others.flatMap(({ server }) => server.tasks));
  const expected = new Map<Job, Answer>();
  const { jobs, limits } = cases ?? { jobs: await listAnswerCases(), limits: SHIPPED_LIMITS };
  for (const job of jobs.filter(({ task }) => tasks.has(task)))
    expected.set(job, readAnswer(job, (await ours.client.ask(job)).text));
  const comparisons: AnswerComparison[] = [];
  for (const member of others) comparisons.push(await compareOne(member, expected, limits));
  return comparisons;
}

async function compareOne({ server, client }: Member, expected: ReadonlyMap<Job, Answer>, limits: AnswerLimits) {
  const comparison = new Comparison(server.id, limits);
  for (const [job, answer] of expected) {
    if (server.tasks.includes(job.task)) comparison.add(answer, readAnswer(job, (await client.ask(job)).text));
  }
  return { peer: server.id, ...comparison.summarise() };
}

class Comparison {
  readonly #who: string;
  readonly #limits: AnswerLimits;
  readonly #differences: number[] = [];
  readonly #cosines: number[] = [];

  constructor(who: string, limits: AnswerLimits) {
    this.#who = who;
    this.#limits = limits;
  }

  /** Written so that NaN fails. */
  add(wanted: Answer, got: Answer): void {
    if (wanted.task === 'decision') {
      const difference = differenceOf(wanted, got);
      if (!(difference <= this.#limits.maxDifference))
        throw new Error(`${this.#who}: a probability is off by ${difference}.`);
      this.#differences.push(difference);
    } else {
      const cosine = smallestCosine(wanted, got);
      if (!(cosine >= this.#limits.minCosine)) throw new Error(`${this.#who}: a vector has cosine ${cosine}.`);
      this.#cosines.push(cosine);
    }
  }

  summarise() {
    return {
      decisions: this.#differences.length,
      largestProbabilityDifference: this.#differences.length === 0 ? null : Math.max(...this.#differences),
      embeddings: this.#cosines.length,
      smallestCosine: this.#cosines.length === 0 ? null : Math.min(...this.#cosines),
    };
  }
}
