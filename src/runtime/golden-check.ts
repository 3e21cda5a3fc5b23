// Runs a model's golden cases at load: a model that disagrees with the answers it was shipped with does not serve.

import type { SplitEncoder } from './families/split-encoder.ts';
import type { TextEncoder } from './families/text-encoder.ts';
import { type DecisionCase, type EmbeddingCase, findDecisionFault, findEmbeddingFault, toQuestion } from './golden.ts';
import type { TimedCase } from './messages.ts';

/** Cases that are run again, warm, to learn how long work takes. */
const TIMED_CASES = 4;

export interface CheckedModel {
  /** First fault found, with the place of its case; undefined: the model agrees. */
  readonly fault: string | undefined;
  readonly timedCases: readonly TimedCase[];
  /** Runs one golden case; its answer is not looked at. */
  readonly probe: () => Promise<unknown>;
}

export async function checkDecisions(
  model: SplitEncoder,
  cases: readonly DecisionCase[],
  precision: string,
): Promise<CheckedModel> {
  const tasks = cases.map(({ state, questions }) => ({ state, questions: questions.map(toQuestion) }));
  const run = (place: number) => model.decide(tasks[place] ?? { state: '', questions: [] });
  const characters = cases.map(({ state, questions }) => ({
    stateCharacters: state.length,
    questionCharacters: JSON.stringify(questions).length,
  }));
  const fault = await findFirstFault(cases, async (golden, place) => {
    const reply = await run(place);
    const expected = golden.probabilities[precision];
    if (expected === undefined) return `no ${precision} answers`;
    if (reply.inputTokens !== golden.input_tokens) return tokenFault(golden.input_tokens, reply.inputTokens);
    const faults = expected.map((wanted, i) => findDecisionFault(wanted, reply.probabilities[i] ?? [], precision));
    return faults.find((text) => text !== undefined);
  });
  return { fault, timedCases: await timeCases(characters, run), probe: () => run(0) };
}

export async function checkEmbeddings(
  model: TextEncoder,
  cases: readonly EmbeddingCase[],
  precision: string,
): Promise<CheckedModel> {
  const run = (place: number) => {
    const input = cases[place]?.input ?? '';
    return model.embed({ inputs: [{ place: 0, input }], dimensions: undefined, encoding: 'float' });
  };
  const characters = cases.map(({ input }) => ({ stateCharacters: input.length, questionCharacters: 0 }));
  const fault = await findFirstFault(cases, async (golden, place) => {
    const reply = await run(place);
    const expected = golden.embeddings[precision];
    if (expected === undefined) return `no ${precision} vector`;
    if (reply.inputTokens !== golden.input_tokens) return tokenFault(golden.input_tokens, reply.inputTokens);
    const [vector] = reply.embeddings;
    return vector instanceof Float32Array ? findEmbeddingFault(expected, vector, precision) : 'no vector';
  });
  return { fault, timedCases: await timeCases(characters, run), probe: () => run(0) };
}

function tokenFault(expected: number, actual: number): string {
  return `${actual} input tokens where ${expected} were due`;
}

async function findFirstFault<Case>(
  cases: readonly Case[],
  findFault: (golden: Case, place: number) => Promise<string | undefined>,
): Promise<string | undefined> {
  if (cases.length === 0) return 'no cases';
  for (const [place, golden] of cases.entries()) {
    const fault = await findFault(golden, place);
    if (fault !== undefined) return `case ${place + 1}: ${fault}`;
  }
  return undefined;
}

type CaseSize = Pick<TimedCase, 'stateCharacters' | 'questionCharacters'>;

async function timeCases(
  sizes: readonly CaseSize[],
  run: (place: number) => Promise<{ readonly inputTokens: number }>,
): Promise<TimedCase[]> {
  const timed: TimedCase[] = [];
  for (const [place, size] of sizes.slice(0, TIMED_CASES).entries()) {
    const startedMs = performance.now();
    const { inputTokens } = await run(place);
    timed.push({ ...size, inputTokens, wallMs: performance.now() - startedMs });
  }
  return timed;
}
