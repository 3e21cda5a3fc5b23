// Which keys stand for which answer: one for each of a few options, as many digits for each of many. Pure.

import type { Question } from '../../domain/question.ts';

const MOST_SINGLE = 9;

/** @returns `[options]`, in the order of the question: what is typed for each */
export function optionKeys(question: Question): readonly string[] {
  switch (question.type) {
    case 'noul':
      return ['n', 'y'];
    case 'score':
      // The number of the level, as answers have it.
      return question.levels.map((_, level) => String(level));
    case 'choice': {
      const { length } = question.options;
      // As many digits for all, so that none begins another and nobody has to press Enter.
      const digits = length <= MOST_SINGLE ? 1 : String(length).length;
      return question.options.map((_, place) => String(place + 1).padStart(digits, '0'));
    }
  }
}

/** @param typed so far. @returns the place of the option; 'begun': more keys are needed; undefined: none begins so */
export function findOption(keys: readonly string[], typed: string): number | 'begun' | undefined {
  const place = keys.indexOf(typed);
  if (place !== -1) return place;
  return keys.some((key) => key.startsWith(typed)) ? 'begun' : undefined;
}
