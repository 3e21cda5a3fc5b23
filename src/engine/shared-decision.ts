// When and how several workers share one decision: by windows of the document first, by questions then. Pure.

import type { Question } from '../domain/question.ts';
import { countQuestionCharacters } from './work-size.ts';

export interface SharingInputs {
  /** Workers with nothing to do. */
  readonly idleWorkers: number;
  /** Calls that wait. */
  readonly queuedJobs: number;
  /** Estimated worker time of the whole decision. */
  readonly costMs: number;
  /** Estimated. */
  readonly stateTokens: number;
  readonly windowTokens: number;
  readonly questions: number;
}

export interface SharingPlan {
  /** Tasks that encode windows, at least 1. */
  readonly shares: number;
  /** Tasks that answer questions, at least 1. */
  readonly groups: number;
}

/** Below this the two extra crossings between threads cost more than they save. */
const LEAST_COST_MS = 40;
/** Longer documents would be held in memory once more by every worker and once by all: too much. */
const MOST_STATE_TOKENS = 4096;

/**
 * Sharing makes one decision faster and two no faster, so only workers that would do nothing else take part.
 * @returns undefined when one worker should do it alone
 */
export function planSharing(inputs: SharingInputs): SharingPlan | undefined {
  const { idleWorkers, queuedJobs, costMs, stateTokens, windowTokens, questions } = inputs;
  if (idleWorkers < 2 || queuedJobs > 0 || costMs < LEAST_COST_MS || stateTokens > MOST_STATE_TOKENS) return undefined;
  const shares = Math.max(1, Math.min(idleWorkers, Math.floor(stateTokens / windowTokens)));
  const groups = Math.max(1, Math.min(idleWorkers, questions));
  return shares === 1 && groups === 1 ? undefined : { shares, groups };
}

/** Places of the questions in groups of like size, the longest question first. @returns `[groups]`, none empty */
export function groupQuestions(questions: readonly Question[], groups: number): number[][] {
  const bins = Array.from({ length: groups }, () => ({ places: [] as number[], characters: 0 }));
  const sized = questions.map((question, place) => ({ place, characters: countQuestionCharacters(question) }));
  for (const { place, characters } of sized.sort((a, b) => b.characters - a.characters || a.place - b.place)) {
    // Even a question without a letter is a run.
    const lightest = bins.reduce((a, b) => (b.characters + b.places.length < a.characters + a.places.length ? b : a));
    lightest.places.push(place);
    lightest.characters += characters;
  }
  return bins.map(({ places }) => places.sort((a, b) => a - b));
}
