// Runs a model's golden cases at load: a model that disagrees with the answers it was shipped with does not serve. The
// runs warm the model up, and their times are where the cost model begins.

import { tokenizeQuestion } from './families/split-encoder/prompt.ts';
import type { SplitEncoder } from './families/split-encoder/split-encoder.ts';
import type { TextEncoder } from './families/text-encoder/text-encoder.ts';
import type { TimedCase } from './messages.ts';
import {
  type DecisionCase,
  type EmbeddingCase,
  findDecisionFault,
  findEmbeddingFault,
  toQuestion,
} from './model-folder/golden.ts';

/** `[CLS]` and `[SEP]` of one text. */
const SPECIAL_TOKENS = 2;
const SAMPLE_CASES = 3;

export interface CheckedModel {
  /** First fault found, with the number of its case; undefined: the model agrees. */
  readonly fault: string | undefined;
  /** Of the cases that ran warm: all but the first. */
  readonly timedCases: readonly TimedCase[];
  /** Runs the first case. @returns its answers */
  readonly probe: () => Promise<GoldenAnswers>;
  /** Runs the first few cases. @returns their answers */
  readonly sample: () => Promise<GoldenAnswers[]>;
}

/** Probabilities of each question, or one vector. */
type GoldenAnswers = readonly ArrayLike<number>[];

interface GoldenRun {
  readonly answers: GoldenAnswers;
  /** Of the state or the input, specials included. */
  readonly tokens: number;
  readonly inputTokens: number;
  readonly expectedTokens: number;
  readonly fault: string | undefined;
}

interface RunnableCase extends Pick<TimedCase, 'characters' | 'questions'> {
  readonly run: () => Promise<GoldenRun>;
}

export function checkDecisions(
  model: SplitEncoder,
  cases: readonly DecisionCase[],
  precision: string,
): Promise<CheckedModel> {
  return checkCases(
    cases.map(({ state, questions, input_tokens: expectedTokens, probabilities }) => ({
      characters: state.length,
      questions: questions.map(toQuestion).map((question) => {
        const { instructions, options } = tokenizeQuestion(question, model.tokenizer);
        const tokens = options.reduce((sum, ids) => sum + ids.length, instructions.length);
        return { tokens, options: options.length };
      }),
      run: async () => {
        // Afresh: a document that an earlier case has left would say nothing of the graphs, and its time nothing of theirs.
        const reply = await model.decide({ state, questions: questions.map(toQuestion) }, true);
        const faults = probabilities[precision]?.map((expected, place) =>
          findDecisionFault(expected, reply.probabilities[place] ?? [], precision),
        ) ?? [`no ${precision} answers`];
        const fault = faults.find((candidate) => candidate !== undefined);
        const { probabilities: answers, stateTokens: tokens, inputTokens } = reply;
        return { answers, tokens, inputTokens, expectedTokens, fault };
      },
    })),
  );
}

export function checkEmbeddings(
  model: TextEncoder,
  cases: readonly EmbeddingCase[],
  precision: string,
): Promise<CheckedModel> {
  return checkCases(
    cases.map(({ input, input_tokens: expectedTokens, embeddings }) => ({
      characters: input.length,
      questions: [],
      run: async () => {
        const inputs = [{ place: 0, input }];
        const reply = await model.embed({ inputs, longInputs: 'refuse', dimensions: undefined, encoding: 'float' });
        const [expected, vector] = [embeddings[precision], reply.embeddings[0]];
        const isPair = expected !== undefined && vector instanceof Float32Array;
        const fault = isPair ? findEmbeddingFault(expected, vector, precision) : `no ${precision} vector`;
        const { inputTokens } = reply;
        const answers = vector instanceof Float32Array ? [vector] : [];
        return { answers, tokens: inputTokens + SPECIAL_TOKENS, inputTokens, expectedTokens, fault };
      },
    })),
  );
}

async function checkCases(cases: readonly RunnableCase[]): Promise<CheckedModel> {
  const timedCases: TimedCase[] = [];
  const sample = async () => {
    const samples: GoldenAnswers[] = [];
    for (const { run } of cases.slice(0, SAMPLE_CASES)) samples.push((await run()).answers);
    return samples;
  };
  const probe = async () => (await cases[0]?.run())?.answers ?? [];
  const checked = { timedCases, probe, sample };
  if (cases.length === 0) return { ...checked, fault: 'no cases' };
  for (const [place, { run, ...size }] of cases.entries()) {
    const startedMs = performance.now();
    const { tokens, inputTokens, expectedTokens, fault } = await run();
    if (place > 0) timedCases.push({ ...size, tokens, wallMs: performance.now() - startedMs });
    const tokenFault =
      inputTokens === expectedTokens ? undefined : `${inputTokens} input tokens where ${expectedTokens} were due`;
    const caseFault = tokenFault ?? fault;
    if (caseFault !== undefined) return { ...checked, fault: `case ${place + 1}: ${caseFault}` };
  }
  return { ...checked, fault: undefined };
}
