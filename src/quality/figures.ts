// What answers are worth: accuracy, macro-F1, negative log-likelihood, calibration error, share answered at an error.
// Pure. The same figures as models/training/umpire_training/evaluate.py; test/quality/figures.python.test.ts holds the two together.

import { argmax } from '../domain/answer.ts';
import type { Temperatures } from '../domain/temperature.ts';
import { goldOf, type LabelledAnswer, probabilitiesOf } from './labelled-answer.ts';

export interface Figures {
  readonly questions: number;
  readonly accuracy: number;
  /** Mean F1 over the names that are right somewhere. */
  readonly macroF1: number;
  /** Mean over questions, in nats. */
  readonly nll: number;
  /** Expected calibration error of the top option. */
  readonly ece: number;
  /** Largest share of answers, surest first, of which at most 5 % are wrong. */
  readonly answeredAt5: number;
  /** Probability of the least sure of those: the threshold for one's own rows. NaN when there is none. */
  readonly thresholdAt5: number;
}

/** How sure an answer was, and whether it was right. */
export interface Guess {
  /** Probability of the top option. */
  readonly confidence: number;
  readonly isRight: boolean;
}

export interface ReliabilityBin {
  readonly low: number;
  readonly high: number;
  readonly count: number;
  /** Mean over the bin; NaN when it is empty. */
  readonly confidence: number;
  readonly accuracy: number;
}

const RELIABILITY_BINS = 15;
const ERROR_LIMIT = 0.05;
/** Keeps one certain mistake from making the mean infinite. */
const LEAST_PROBABILITY = 1e-12;

/** Every figure of no answers is NaN. @param temperatures without any: 1 */
export function measureFigures(answers: readonly LabelledAnswer[], temperatures: Temperatures = {}): Figures {
  return figuresOf(
    answers,
    answers.map((answer) => probabilitiesOf(answer, temperatures)),
  );
}

/** @param probabilities `[answers][options]` */
export function figuresOf(answers: readonly LabelledAnswer[], probabilities: readonly (readonly number[])[]): Figures {
  const guesses = toGuesses(answers, probabilities);
  const sure = sureAnswers(guesses, ERROR_LIMIT);
  const pairs = answers.map((answer, at) => ({
    guess: answer.names[argmax(probabilities[at] ?? [])] ?? '',
    gold: answer.names[goldOf(answer)] ?? '',
  }));
  return {
    questions: answers.length,
    accuracy: mean(guesses.map(({ isRight }) => (isRight ? 1 : 0))),
    macroF1: macroF1(pairs),
    nll: mean(answers.map(({ target }, at) => crossEntropy(target, probabilities[at] ?? []))),
    ece: calibrationError(guesses),
    answeredAt5: sure.length / guesses.length,
    thresholdAt5: sure.at(-1)?.confidence ?? Number.NaN,
  };
}

/** @param probabilities `[answers][options]` */
export function toGuesses(answers: readonly LabelledAnswer[], probabilities: readonly (readonly number[])[]): Guess[] {
  return answers.map((answer, at) => {
    const top = argmax(probabilities[at] ?? []);
    return { confidence: probabilities[at]?.[top] ?? 0, isRight: top === goldOf(answer) };
  });
}

/** −Σ target·log(p) in nats. @param target `[options]` @param probabilities `[options]` */
function crossEntropy(target: readonly number[], probabilities: readonly number[]): number {
  return target.reduce(
    (loss, share, i) =>
      share === 0 ? loss : loss - share * Math.log(Math.max(probabilities[i] ?? 0, LEAST_PROBABILITY)),
    0,
  );
}

/** Mean over the names that occur as gold of 2·right / (guessed + gold). */
export function macroF1(pairs: readonly { readonly guess: string; readonly gold: string }[]): number {
  const counts = new Map<string, { right: number; guessed: number; gold: number }>();
  const countOf = (name: string) => {
    const count = counts.get(name) ?? { right: 0, guessed: 0, gold: 0 };
    counts.set(name, count);
    return count;
  };
  for (const { guess, gold } of pairs) {
    countOf(guess).guessed += 1;
    countOf(gold).gold += 1;
    if (guess === gold) countOf(gold).right += 1;
  }
  const known = [...counts.values()].filter(({ gold }) => gold > 0);
  return mean(known.map(({ right, guessed, gold }) => (2 * right) / (guessed + gold)));
}

/** Equally wide bins over the confidence, low to high, empty ones too. */
export function reliabilityBins(guesses: readonly Guess[], bins: number = RELIABILITY_BINS): ReliabilityBin[] {
  const groups = Array.from({ length: bins }, (): Guess[] => []);
  for (const guess of guesses) groups[Math.min(Math.trunc(guess.confidence * bins), bins - 1)]?.push(guess);
  return groups.map((group, bin) => ({
    low: bin / bins,
    high: (bin + 1) / bins,
    count: group.length,
    confidence: mean(group.map(({ confidence }) => confidence)),
    accuracy: mean(group.map(({ isRight }) => (isRight ? 1 : 0))),
  }));
}

/** Mean distance between confidence and accuracy of the bins, each weighted by its answers. */
export function calibrationError(guesses: readonly Guess[], bins: number = RELIABILITY_BINS): number {
  const filled = reliabilityBins(guesses, bins).filter(({ count }) => count > 0);
  const total = filled.reduce(
    (sum, { count, confidence, accuracy }) => sum + count * Math.abs(confidence - accuracy),
    0,
  );
  return total / guesses.length;
}

/** As many answers as possible, surest first, of which at most `error` are wrong. Equally sure ones keep their order. */
export function sureAnswers(guesses: readonly Guess[], error: number): Guess[] {
  const surestFirst = guesses.toSorted((a, b) => b.confidence - a.confidence);
  let wrong = 0;
  let most = 0;
  for (const [at, { isRight }] of surestFirst.entries()) {
    if (!isRight) wrong += 1;
    if (wrong <= error * (at + 1)) most = at + 1;
  }
  return surestFirst.slice(0, most);
}

/** Figures by task, in the order of the answers. @param temperatures without any: 1 */
export function measureTasks(
  answers: readonly LabelledAnswer[],
  temperatures: Temperatures = {},
): Map<string, Figures> {
  return new Map([...groupByTask(answers)].map(([task, group]) => [task, measureFigures(group, temperatures)]));
}

export function groupByTask(answers: readonly LabelledAnswer[]): Map<string, LabelledAnswer[]> {
  return Map.groupBy(answers, ({ task }) => task);
}

/** NaN of no values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
