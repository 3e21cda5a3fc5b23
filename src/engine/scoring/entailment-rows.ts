// A decision as rows of a model of entailment: the state beside the statement of each option. Pure.

import { toAnswer } from '../../domain/answer.ts';
import type { Question } from '../../domain/question.ts';
import { hypothesesOf } from '../../runtime/families/pair-scorer/hypotheses.ts';
import { entailmentProbabilities } from '../../runtime/families/pair-scorer/pair-readout.ts';
import type { PairItem, ScorePairsTask } from '../../runtime/messages.ts';
import type { EntailmentManifest } from '../../runtime/model-folder/manifest.ts';
import { countOptions } from '../cost/work-size.ts';
import type { DecideJob } from '../engine.ts';
import { requireFewRows, requireShortStatements } from './decision-limits.ts';
import { countPairs, lettersOfPairs, type Pairs, scorePairs } from './pair-tasks.ts';
import { inRowOrder, type RowJob } from './row-job.ts';

/** @throws AppError invalid_request, context_length_exceeded */
export function entailmentRows(
  { modelId, state, questions }: DecideJob,
  manifest: EntailmentManifest,
): RowJob<ScorePairsTask> {
  requireFewRows(
    questions.reduce((rows, question) => rows + leastRows(question), 0),
    modelId,
  );
  requireShortStatements(questions, modelId);
  const seconds = questions.flatMap((question, place) =>
    hypothesesOf(question, manifest).map((second): PairItem => ({ place, second })),
  );
  requireFewRows(seconds.length, modelId);
  const pairs: Pairs = { modelId, first: state, seconds, truncate: false };
  return {
    queueClass: 'decision',
    letters: lettersOfPairs(pairs),
    taskOf: (rows) => scorePairs(pairs, rows),
    countTasks: () => countPairs(pairs),
    toResult(finished, common) {
      const logits = inRowOrder(
        finished,
        finished.map(({ reply }) => reply.logits),
      );
      const ofQuestions: Float32Array[][] = questions.map(() => []);
      for (const [row, { place }] of seconds.entries()) ofQuestions[place]?.push(logits[row] ?? new Float32Array());
      const answers = questions.map((question, place) =>
        toAnswer(question, entailmentProbabilities(question, ofQuestions[place] ?? [], manifest)),
      );
      return { ...common, answers };
    },
  };
}

/** A noul has one or two. */
function leastRows(question: Question): number {
  return question.type === 'noul' ? 1 : countOptions(question);
}
