// Compares a model's golden cases with the answers it was shipped with: one that disagrees does not serve. The runs warm
// the model up, and their times are where the cost model begins.

import type { PairScorer } from './families/pair-scorer/pair-scorer.ts';
import type { TextEncoder } from './families/text-encoder/text-encoder.ts';
import { type CaseRun, type DecidingFamily, runDecisionCase, runEmbeddingCase, runRankingCase } from './golden-runs.ts';
import type { TimedCase } from './load-report.ts';
import {
  type DecisionCase,
  type EmbeddingCase,
  findDecisionFault,
  findEmbeddingFault,
  type RankingCase,
  toQuestion,
} from './model-folder/golden.ts';
import type { RerankerManifest } from './model-folder/manifest.ts';

const SAMPLE_CASES = 3;

export interface CheckedModel {
  /** First fault found, with the number of its case; undefined: the model agrees. */
  readonly fault: string | undefined;
  /** Of the cases that ran warm: all but the first. */
  readonly timedCases: readonly TimedCase[];
  /** Runs the first case. @returns its answers */
  readonly probe: () => Promise<CaseRun['answers']>;
  /** Runs the first few cases. @returns their answers */
  readonly sample: () => Promise<CaseRun['answers'][]>;
}

interface RunnableCase {
  readonly expectedTokens: number;
  readonly run: () => Promise<CaseRun>;
  readonly findFault: (answers: CaseRun['answers']) => string | undefined;
}

export function checkDecisions(
  family: DecidingFamily,
  cases: readonly DecisionCase[],
  precision: string,
): Promise<CheckedModel> {
  return checkCases(
    cases.map(({ state, questions, input_tokens: expectedTokens, probabilities }) => ({
      expectedTokens,
      run: () => runDecisionCase(family, { state, questions: questions.map(toQuestion) }),
      findFault: (answers) => findFirstFault(probabilities[precision], answers, precision),
    })),
  );
}

export function checkRankings(
  family: PairScorer<RerankerManifest>,
  cases: readonly RankingCase[],
  precision: string,
): Promise<CheckedModel> {
  return checkCases(
    cases.map(({ query, documents, input_tokens: expectedTokens, scores }) => ({
      expectedTokens,
      run: () => runRankingCase(family, { query, documents }),
      findFault: (answers) => {
        const expected = scores[precision];
        return findFirstFault(expected && [expected], answers, precision);
      },
    })),
  );
}

export function checkEmbeddings(
  family: TextEncoder,
  cases: readonly EmbeddingCase[],
  precision: string,
): Promise<CheckedModel> {
  return checkCases(
    cases.map(({ input, input_tokens: expectedTokens, embeddings }) => ({
      expectedTokens,
      run: () => runEmbeddingCase(family, input),
      findFault: ([vector = []]) => {
        const expected = embeddings[precision];
        return expected === undefined ? `no ${precision} vector` : findEmbeddingFault(expected, vector, precision);
      },
    })),
  );
}

function findFirstFault(
  expected: readonly (readonly number[])[] | undefined,
  answers: CaseRun['answers'],
  precision: string,
): string | undefined {
  if (expected === undefined) return `no ${precision} answers`;
  return expected
    .map((probabilities, place) => findDecisionFault(probabilities, answers[place] ?? [], precision))
    .find((fault) => fault !== undefined);
}

async function checkCases(cases: readonly RunnableCase[]): Promise<CheckedModel> {
  const timedCases: TimedCase[] = [];
  const sample = async () => {
    const samples: CaseRun['answers'][] = [];
    for (const { run } of cases.slice(0, SAMPLE_CASES)) samples.push((await run()).answers);
    return samples;
  };
  const probe = async () => (await cases[0]?.run())?.answers ?? [];
  const checked = { timedCases, probe, sample };
  if (cases.length === 0) return { ...checked, fault: 'no cases' };
  for (const [place, { run, expectedTokens, findFault }] of cases.entries()) {
    const { answers, inputTokens, ...timed } = await run();
    if (place > 0) timedCases.push(timed);
    const tokenFault =
      inputTokens === expectedTokens ? undefined : `${inputTokens} input tokens where ${expectedTokens} were due`;
    const caseFault = tokenFault ?? findFault(answers);
    if (caseFault !== undefined) return { ...checked, fault: `case ${place + 1}: ${caseFault}` };
  }
  return { ...checked, fault: undefined };
}
