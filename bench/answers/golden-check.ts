// Checks the server's answers over HTTP before anything is timed: what is fast and wrong is not fast.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { BenchClient } from '../load/client.ts';
import { DECISION_MODEL, EMBEDDING_MODEL, makeDecision } from '../load/workload.ts';

const MODELS = resolve(import.meta.dirname, '..', '..', 'models');

/** int8 on another CPU may differ a little; the server's own check at its start is as strict. */
const MAX_PROBABILITY_DIFFERENCE = 0.05;
const MIN_COSINE = 0.99;

const probabilityLists = z.array(z.array(z.number()));
export const goldenQuestion = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('choice'),
    instructions: z.string(),
    options: z.array(z.tuple([z.string(), z.string().nullable()])),
  }),
  z.object({ type: z.literal('score'), instructions: z.string(), levels: z.array(z.string()) }),
  z.object({
    type: z.literal('noul'),
    instructions: z.string(),
    false: z.string().nullable(),
    true: z.string().nullable(),
  }),
]);
type GoldenQuestion = z.infer<typeof goldenQuestion>;

const goldenDecisions = z.object({
  cases: z
    .array(
      z.object({
        state: z.string(),
        questions: z.array(goldenQuestion),
        input_tokens: z.int(),
        probabilities: z.object({ int8: probabilityLists }),
      }),
    )
    .min(1),
});

const goldenEmbeddings = z.object({
  cases: z
    .array(
      z.object({
        input: z.string(),
        input_tokens: z.int(),
        embeddings: z.object({ int8: z.array(z.number()) }),
      }),
    )
    .min(1),
});

const wireAnswer = z.discriminatedUnion('type', [
  z.object({ type: z.literal('choice'), probabilities: z.record(z.string(), z.number()) }),
  z.object({ type: z.literal('score'), probabilities: z.record(z.string(), z.number()) }),
  z.object({ type: z.literal('noul'), noul: z.number() }),
]);
const wireDecision = z.object({
  answers: z.record(z.string(), wireAnswer),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.literal(0) }),
});
const wireEmbeddings = z.object({
  data: z.array(z.object({ embedding: z.array(z.number()) })).min(1),
  usage: z.object({ prompt_tokens: z.int() }),
});

export interface GoldenOutcome {
  readonly decisions: number;
  readonly embeddings: number;
  readonly largestProbabilityDifference: number;
  readonly smallestCosine: number;
}

/** @throws at the first answer that is not the golden one */
export async function checkGolden(client: BenchClient): Promise<GoldenOutcome> {
  // A model answers empty instructions; the protocol refuses them.
  const decisions = goldenDecisions
    .parse(readGolden(DECISION_MODEL))
    .cases.filter(({ questions }) => questions.every(({ instructions }) => instructions !== ''));
  const embeddings = goldenEmbeddings.parse(readGolden(EMBEDDING_MODEL)).cases;
  let largestProbabilityDifference = 0;
  for (const golden of decisions) {
    const reply = wireDecision.parse(await post(client, '/ai/v1/systemone', toBody(golden.state, golden.questions)));
    expectEqual('input_tokens', reply.usage.input_tokens, golden.input_tokens);
    golden.questions.forEach((question, index) => {
      const got = readProbabilities(question, reply.answers[`q${index}`]);
      const expected = golden.probabilities.int8[index] ?? [];
      expectEqual('number of probabilities', got.length, expected.length);
      const difference = Math.max(...got.map((value, option) => Math.abs(value - (expected[option] ?? Number.NaN))));
      if (!(difference <= MAX_PROBABILITY_DIFFERENCE)) throw new Error(`A golden answer differs by ${difference}.`);
      largestProbabilityDifference = Math.max(largestProbabilityDifference, difference);
    });
  }
  const smallestCosine = await checkEmbeddings(client, embeddings);
  await checkTokenCount(client);
  return { decisions: decisions.length, embeddings: embeddings.length, largestProbabilityDifference, smallestCosine };
}

async function checkEmbeddings(client: BenchClient, cases: z.infer<typeof goldenEmbeddings>['cases']): Promise<number> {
  let smallest = 1;
  for (const golden of cases) {
    const body = JSON.stringify({ model: EMBEDDING_MODEL, input: golden.input, encoding_format: 'float' });
    const reply = wireEmbeddings.parse(await post(client, '/ai/v1/embeddings', body));
    const cosine = dot(reply.data[0]?.embedding ?? [], golden.embeddings.int8);
    if (!(cosine >= MIN_COSINE)) throw new Error(`A golden embedding has cosine ${cosine}.`);
    smallest = Math.min(smallest, cosine);
  }
  return smallest;
}

/** The words of the workload are one token each: a document of n tokens is counted as n more than an empty one. */
async function checkTokenCount(client: BenchClient): Promise<void> {
  const count = async (stateTokens: number): Promise<number> => {
    const body = JSON.stringify(makeDecision({ stateTokens, questions: 1 }));
    return wireDecision.parse(await post(client, '/ai/v1/systemone', body)).usage.input_tokens;
  };
  expectEqual('tokens of a document of 2,000', (await count(2000)) - (await count(0)), 2000);
}

/** Written by hand, not through an object: names of a golden case may be any text, in any order. */
function toBody(state: string, questions: readonly GoldenQuestion[]): string {
  const members = questions.map((question, index) => `"q${index}":${toWireQuestion(question)}`);
  return `{"model":"${DECISION_MODEL}","state":${JSON.stringify(state)},"questions":{${members.join(',')}}}`;
}

function toWireQuestion(question: GoldenQuestion): string {
  const { type, instructions } = question;
  return `{"type":"${type}","instructions":${JSON.stringify(instructions)},"criteria":${toCriteria(question)}}`;
}

function toCriteria(question: GoldenQuestion): string {
  if (question.type === 'score') return JSON.stringify(question.levels);
  const pairs =
    question.type === 'choice'
      ? question.options
      : (
          [
            ['false', question.false],
            ['true', question.true],
          ] as const
        ).filter(([, text]) => text !== null);
  return `{${pairs.map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`).join(',')}}`;
}

/** In the order of the golden file: the request's, and for noul false, true. */
function readProbabilities(question: GoldenQuestion, answer: z.infer<typeof wireAnswer> | undefined): number[] {
  if (answer === undefined) throw new Error('A golden question has no answer.');
  if (answer.type === 'noul') return [1 - answer.noul, answer.noul];
  const byName = new Map(Object.entries(answer.probabilities));
  const names = question.type === 'choice' ? question.options.map(([name]) => name) : [...byName.keys()];
  return names.map((name) => byName.get(name) ?? Number.NaN);
}

async function post(client: BenchClient, path: string, body: string): Promise<unknown> {
  const reply = await client.post(path, body);
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${reply.text}`);
  return JSON.parse(reply.text);
}

function readGolden(model: string): unknown {
  return JSON.parse(readFileSync(join(MODELS, model, 'golden.json'), 'utf8'));
}

function expectEqual(what: string, got: number, expected: number): void {
  if (got !== expected) throw new Error(`Wrong ${what}: ${got} instead of ${expected}.`);
}

/** Of unit vectors: their cosine. */
function dot(left: readonly number[], right: readonly number[]): number {
  return left.reduce((total, value, index) => total + value * (right[index] ?? Number.NaN), 0);
}
