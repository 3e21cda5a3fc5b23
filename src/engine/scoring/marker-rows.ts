// A decision as rows of a marker encoder: the state beside each question with all its options. Pure.

import { toAnswer } from '../../domain/answer.ts';
import { sum } from '../../domain/sum.ts';
import type { CountDecisionTask, DecideTask } from '../../runtime/messages.ts';
import { countLetters } from '../cost/token-ratio.ts';
import { countCharacters, textsOf } from '../cost/work-size.ts';
import type { DecideJob } from '../engine.ts';
import { requireFewRows } from './decision-limits.ts';
import { inRowOrder, type RowJob } from './row-job.ts';

/** @throws AppError invalid_request */
export function markerRows(job: DecideJob): RowJob<DecideTask> {
  const { modelId, state, questions } = job;
  requireFewRows(questions.length, modelId);
  const stateLetters = countLetters(state);
  return {
    queueClass: 'decision',
    letters: questions.map((question) => stateLetters + sum(textsOf(question).map(countLetters))),
    taskOf: (rows) => ({
      kind: 'decide',
      modelId,
      state,
      questions: rows.flatMap((row) => questions[row] ?? []),
      places: rows,
    }),
    countTasks() {
      const task: CountDecisionTask = { kind: 'count-decision', ...job };
      return [{ task, characters: countCharacters(job) }];
    },
    toResult(finished, common) {
      const probabilities = inRowOrder(
        finished,
        finished.map(({ reply }) => reply.probabilities),
      );
      return { ...common, answers: questions.map((question, place) => toAnswer(question, probabilities[place] ?? [])) };
    },
  };
}
