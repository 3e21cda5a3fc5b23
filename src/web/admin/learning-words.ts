// How a learning and what came of it are told.

import { showShare } from './shown-figures.ts';
import type { LearnedQuestionFigures, LearningFigures } from './wire-types.ts';

/** `reading, 40 %`; `failed: out_of_memory` */
export function tellLearning({ state, progress, error }: LearningFigures): string {
  if (state === 'failed') return `failed: ${error?.code ?? 'unknown'}`;
  if (state !== 'running') return state;
  const { step, done, total } = progress;
  return total === 0 ? step : `${step}, ${showShare(done, total)}`;
}

/** What becomes of requests for it. */
export const REQUESTS = { served: 'answered', refused: 'refused', absent: 'not yet' } as const;

export const VERDICTS: Readonly<Record<LearnedQuestionFigures['verdict'], string>> = {
  learned: 'learned',
  no_gain: 'no gain: the base answers',
  too_few_rows: 'too few rows: the base answers',
  one_option_only: 'one option only: the base answers',
};
