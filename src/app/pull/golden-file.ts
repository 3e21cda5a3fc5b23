// golden.json of a folder that is being made: the first cases of the probe set, with what each precision answered.

import type { Question } from '../../domain/question.ts';
import type { DecisionCase, EmbeddingCase, RankingCase } from '../../runtime/model-folder/golden.ts';
import type { Manifest } from '../../runtime/model-folder/manifest.ts';
import type { ProbeAnswer } from '../../runtime/probe/probe-messages.ts';
import {
  GOLDEN_DECISIONS,
  GOLDEN_RANKINGS,
  GOLDEN_TEXTS,
  PROBE_DECISIONS,
  PROBE_RANKINGS,
  PROBE_TEXTS,
} from '../../runtime/probe/probe-set.ts';

/** As golden answers are written everywhere. */
const DIGITS = 9;

type AnswersByPrecision = Readonly<Record<string, readonly ProbeAnswer[]>>;

/** @param answers by precision, each to the same cases */
export function renderGolden({ type }: Manifest, answers: AnswersByPrecision): string {
  const cases =
    type === 'embedding'
      ? embeddingCases(answers)
      : type === 'reranker'
        ? rankingCases(answers)
        : decisionCases(answers);
  return `${JSON.stringify({ format: 1, cases })}\n`;
}

function embeddingCases(answers: AnswersByPrecision): EmbeddingCase[] {
  return firstCases(answers, GOLDEN_TEXTS).map(({ place, inputTokens }) => ({
    input: PROBE_TEXTS[place] ?? '',
    input_tokens: inputTokens,
    embeddings: byPrecision(answers, place, ([vector = []]) => vector),
  }));
}

function rankingCases(answers: AnswersByPrecision): RankingCase[] {
  return firstCases(answers, GOLDEN_RANKINGS).map(({ place, inputTokens }) => ({
    query: PROBE_RANKINGS[place]?.query ?? '',
    documents: PROBE_RANKINGS[place]?.documents ?? [],
    input_tokens: inputTokens,
    scores: byPrecision(answers, place, ([scores = []]) => scores),
  }));
}

function decisionCases(answers: AnswersByPrecision): DecisionCase[] {
  return firstCases(answers, GOLDEN_DECISIONS).map(({ place, inputTokens }) => ({
    state: PROBE_DECISIONS[place]?.state ?? '',
    questions: (PROBE_DECISIONS[place]?.questions ?? []).map(toGoldenQuestion),
    input_tokens: inputTokens,
    probabilities: byPrecision(answers, place, (values) => values),
  }));
}

function firstCases(answers: AnswersByPrecision, count: number): readonly ProbeAnswer[] {
  return (Object.values(answers)[0] ?? []).slice(0, count);
}

function byPrecision<T>(
  answers: AnswersByPrecision,
  place: number,
  read: (values: readonly (readonly number[])[]) => T,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(answers).map(([precision, given]) => {
      const values = given.find((answer) => answer.place === place)?.values ?? [];
      return [precision, read(values.map((value) => value.map((number) => Number(number.toPrecision(DIGITS)))))];
    }),
  );
}

/** The other way of `toQuestion`. */
function toGoldenQuestion(question: Question): DecisionCase['questions'][number] {
  const { type, instructions } = question;
  switch (type) {
    case 'choice':
      return { type, instructions, options: question.options.map(({ name, description }) => [name, description]) };
    case 'score':
      return { type, instructions, levels: question.levels };
    case 'noul':
      return { type, instructions, false: question.whenFalse, true: question.whenTrue };
  }
}
