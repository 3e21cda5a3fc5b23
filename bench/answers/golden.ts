// The golden cases of the shipped models: what is asked, and what the reference implementation answered to it.

import { join } from 'node:path';
import { readFolderFile } from '../../src/runtime/model-folder/folder-file.ts';
import type { DecisionCase, EmbeddingCase, GoldenFile } from '../../src/runtime/model-folder/golden.ts';
import { DECISION_MODEL, EMBEDDING_MODEL, type Job, type WireQuestion } from '../load/workload.ts';
import { ROOT } from '../machine/machine.ts';
import type { Answer } from './answers.ts';

export interface GoldenJob {
  readonly job: Job;
  readonly inputTokens: number;
  readonly answer: Answer;
}

const PRECISION = 'int8';

export async function readGoldenDecisions(): Promise<GoldenJob[]> {
  // A model answers empty instructions; the protocol refuses them.
  const askable = (await readCases<DecisionCase>(DECISION_MODEL)).filter(({ questions }) =>
    questions.every(({ instructions }) => instructions !== ''),
  );
  return askable.map(({ state, questions, input_tokens: inputTokens, probabilities }) => ({
    job: { task: 'decision', body: { model: DECISION_MODEL, state, questions: named(questions.map(toWire)) } },
    inputTokens,
    answer: { task: 'decision', probabilities: probabilities[PRECISION] ?? [] },
  }));
}

export async function readGoldenEmbeddings(): Promise<GoldenJob[]> {
  const cases = await readCases<EmbeddingCase>(EMBEDDING_MODEL);
  return cases.map(({ input, input_tokens: inputTokens, embeddings }) => ({
    job: { task: 'embedding', inputs: [input] },
    inputTokens,
    answer: { task: 'embedding', vectors: [Float32Array.from(embeddings[PRECISION] ?? [])] },
  }));
}

/** `question_0`, `question_1`, … */
export function named(questions: readonly WireQuestion[]): Record<string, WireQuestion> {
  return Object.fromEntries(questions.map((asked, index) => [`question_${index}`, asked]));
}

/** Names of golden options are no numbers, so an object keeps their order. */
function toWire(golden: DecisionCase['questions'][number]): WireQuestion {
  const { type, instructions } = golden;
  if (type === 'score') return { type, instructions, criteria: golden.levels };
  if (type === 'choice') return { type, instructions, criteria: Object.fromEntries(golden.options) };
  return { type, instructions, criteria: { true: golden.true ?? null, false: golden.false ?? null } };
}

async function readCases<Case>(model: string): Promise<readonly Case[]> {
  const bytes = await readFolderFile(join(ROOT, 'models', model), 'golden.json');
  const file: GoldenFile<Case> = JSON.parse(bytes.toString());
  if (file.cases.length === 0) throw new Error(`${model} has no golden cases.`);
  return file.cases;
}
