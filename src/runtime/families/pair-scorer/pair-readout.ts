// From the logits of pairs to answers. Pure; the same on either thread.

import type { Question } from '../../../domain/question.ts';
import { softmax, temperatureOf } from '../../../domain/temperature.ts';
import type { EntailmentManifest } from '../../model-folder/manifest.ts';
import { restoreOrder } from '../option-order.ts';

type EntailmentReadout = Pick<EntailmentManifest, 'labels' | 'temperatures'>;

/**
 * @param logits `[hypotheses of the question][labels]`
 * @returns `[options]`, in the order of the request; noul: false, true
 */
export function entailmentProbabilities(
  question: Question,
  logits: readonly ArrayLike<number>[],
  { labels, temperatures }: EntailmentReadout,
): number[] {
  const [first] = logits;
  const isOneHypothesis = question.type === 'noul' && logits.length === 1 && first !== undefined;
  const scores = isOneHypothesis
    ? [logitAt(first, labels.contradiction), logitAt(first, labels.entailment)]
    : logits.map((row) => logitAt(row, labels.entailment));
  return sortedSoftmax(scores, temperatureOf(temperatures, question.type, scores.length));
}

/** A sum of fractions has other bits in another order, and the order of options says nothing. */
function sortedSoftmax(scores: readonly number[], temperature: number): number[] {
  const order = scores.map((_, place) => place).sort((a, b) => (scores[a] ?? 0) - (scores[b] ?? 0));
  const sorted = order.map((place) => scores[place] ?? 0);
  return restoreOrder(softmax(sorted, temperature), order);
}

function logitAt(logits: ArrayLike<number>, place: number): number {
  const logit = logits[place];
  if (logit === undefined) throw new Error(`the graph gave ${logits.length} logits where ${place + 1} were due`);
  return logit;
}
