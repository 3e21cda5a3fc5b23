// The golden cases of the shipped models: what is asked, and what the reference implementation answered to it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DECISION_MODEL, EMBEDDING_MODEL, type Job, type WireQuestion } from '../load/workload.ts';
import { ROOT } from '../machine/machine.ts';
import type { Answer } from './answers.ts';

export interface GoldenCase {
  readonly job: Job;
  readonly inputTokens: number;
  readonly answer: Answer;
}

const question = z.discriminatedUnion('type', [
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
const decisionCase = z.object({
  state: z.string(),
  questions: z.array(question),
  input_tokens: z.int(),
  probabilities: z.object({ int8: z.array(z.array(z.number())) }),
});
const embeddingCase = z.object({
  input: z.string(),
  input_tokens: z.int(),
  embeddings: z.object({ int8: z.array(z.number()) }),
});

export function readGoldenDecisions(): GoldenCase[] {
  const { cases } = z.object({ cases: z.array(decisionCase).min(1) }).parse(readGolden(DECISION_MODEL));
  // A model answers empty instructions; the protocol refuses them.
  const askable = cases.filter(({ questions }) => questions.every(({ instructions }) => instructions !== ''));
  return askable.map(({ state, questions, input_tokens, probabilities }) => ({
    job: { task: 'decision', body: { model: DECISION_MODEL, state, questions: named(questions.map(toWire)) } },
    inputTokens: input_tokens,
    answer: { task: 'decision', probabilities: probabilities.int8 },
  }));
}

export function readGoldenEmbeddings(): GoldenCase[] {
  const { cases } = z.object({ cases: z.array(embeddingCase).min(1) }).parse(readGolden(EMBEDDING_MODEL));
  return cases.map(({ input, input_tokens, embeddings }) => ({
    job: { task: 'embedding', inputs: [input] },
    inputTokens: input_tokens,
    answer: { task: 'embedding', vectors: [Float32Array.from(embeddings.int8)] },
  }));
}

/** `question_0`, `question_1`, … */
export function named(questions: readonly WireQuestion[]): Record<string, WireQuestion> {
  return Object.fromEntries(questions.map((asked, index) => [`question_${index}`, asked]));
}

/** Names of golden options are no numbers, so an object keeps their order. */
function toWire(golden: z.infer<typeof question>): WireQuestion {
  const { type, instructions } = golden;
  if (type === 'noul') return { type, instructions, criteria: { true: golden.true, false: golden.false } };
  if (type === 'score') return { type, instructions, criteria: golden.levels };
  return { type, instructions, criteria: Object.fromEntries(golden.options) };
}

function readGolden(model: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, 'models', model, 'golden.json'), 'utf8'));
}
