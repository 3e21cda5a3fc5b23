// A learned question of a request, and its answer by the head: some 100,000 multiplications. Pure. Sums run in the order
// of the options' hashes, so the order of a request changes no bit.

import type { Question } from '../domain/question.ts';
import { softmax } from '../domain/temperature.ts';
import { hashOfAsked, identify } from './frozen-rows.ts';
import { logOf, normalise, placesOfOptions } from './head-form.ts';
import type { LearnedQuestion } from './learned-model.ts';

/** A question of a request beside the learned one that answers it. */
export interface LearnedMatch {
  readonly learned: LearnedQuestion;
  /** `[options]`, sorted by hash (noul, score: in order): place in the request of each. */
  readonly order: readonly number[];
  /** `[options]`, in the same order: place in the learned question; −1: an option without rows. */
  readonly places: readonly number[];
}

/** Fewer say that it is another question, though it is asked in the same words. */
const LEAST_SHARED_OPTIONS = 2;

/**
 * The question with the same options; of a choice, failing that, the one of the same instructions that shares most of
 * them, at least two. Of several the one with the fewest others, then the first.
 */
export function findLearned(questions: readonly LearnedQuestion[], question: Question): LearnedMatch | undefined {
  if (questions.length === 0) return undefined;
  const asked = hashOfAsked(question);
  const candidates = questions.filter((learned) => learned.asked === asked && learned.type === question.type);
  if (candidates.length === 0) return undefined;
  const { options, order } = identify(question);
  const matches = candidates.map((learned) => {
    if (question.type !== 'choice') return { learned, places: options.map((_, place) => place) };
    const known = new Map(learned.options.map((option, place) => [option, place]));
    return { learned, places: options.map((option) => known.get(option) ?? -1) };
  });
  const shared = ({ places }: (typeof matches)[number]) => places.filter((place) => place >= 0).length;
  const best = matches.reduce((a, b) => {
    const [left, right] = [shared(a), shared(b)];
    if (left !== right) return left > right ? a : b;
    return b.learned.options.length < a.learned.options.length ? b : a;
  });
  const isSame = shared(best) === options.length && best.learned.options.length === options.length;
  return isSame || shared(best) >= LEAST_SHARED_OPTIONS ? { ...best, order } : undefined;
}

/**
 * @param zeroShot `[options]`, in the order of the request; noul: false, true
 * @param vector `[dimensions]` of the document
 * @returns `[options]`, in the order of the request; sums to 1
 */
export function answerLearned(match: LearnedMatch, zeroShot: readonly number[], vector: Float32Array): number[] {
  const { learned, order, places } = match;
  const { head } = learned;
  const x = normalise(vector, head);
  const rows = head.weights.length / x.length;
  const scores = Array.from({ length: rows }, (_, row) =>
    // Rows of options that are not asked for are not needed.
    rows > 1 && !places.includes(row) ? 0 : dot(head.weights, row * x.length, x),
  );
  const optionPlaces = placesOfOptions(learned.type, learned.options.length);
  const logits = order.map((requested, at) => {
    const place = places[at] ?? -1;
    const prior = head.offset * logOf(zeroShot[requested] ?? 0);
    if (place < 0) return prior + head.newOption;
    const score =
      rows > 1 || optionPlaces === undefined ? scores[place] : (optionPlaces[place] ?? 0) * (scores[0] ?? 0);
    return prior + (head.biases[place] ?? 0) + (score ?? 0);
  });
  const sorted = softmax(logits, head.temperature);
  const probabilities = new Array<number>(sorted.length).fill(0);
  for (const [at, place] of order.entries()) probabilities[place] = sorted[at] ?? 0;
  return probabilities;
}

function dot(weights: Float32Array, from: number, x: Float64Array): number {
  let total = 0;
  for (let i = 0; i < x.length; i++) total += (weights[from + i] ?? 0) * (x[i] ?? 0);
  return total;
}
