import { describe, expect, it } from 'vitest';
import { softmax } from '../domain/temperature.ts';
import { accuracyByOptions, accuracyByStateTokens } from './breakdown.ts';
import { type LabelledAnswer, probabilitiesOf, toLogits } from './labelled-answer.ts';

const about = { task: 't', row: 0, type: 'choice', stateTokens: 1 } as const;

describe('logits out of probabilities', () => {
  it.each([0.5, 1, 1.9, 5])('give the same answers at any other temperature (from %d)', (temperature) => {
    const logits = [3.25, -1.5, 0.125, 9];
    const recovered = toLogits(softmax(logits, temperature), 'choice', temperature);
    for (const [i, probability] of softmax(recovered, 0.7).entries()) {
      expect(probability).toBeCloseTo(softmax(logits, 0.7)[i] ?? Number.NaN, 12);
    }
  });

  it('are finite where a probability has become 0', () => {
    expect(toLogits([1, 0], 'choice', 1)).toEqual([0, Math.log(Number.MIN_VALUE)]);
    // Of a noul only the probability of true is told: false is 0 from 5·10⁻¹⁷ on.
    expect(toLogits([0, 1], 'noul', 1)[0]).toBeCloseTo(-54 * Math.LN2, 12);
  });

  it('leave the probabilities of the answer as they were', () => {
    const answer: LabelledAnswer = {
      ...about,
      logits: toLogits([0.2, 0.5, 0.3], 'choice', 2),
      target: [1, 0, 0],
      names: ['a', 'b', 'c'],
    };
    expect(probabilitiesOf(answer, { choice: { '3-5': 2 } })[1]).toBeCloseTo(0.5, 12);
  });
});

describe('accuracy', () => {
  const labelled = (options: number, stateTokens: number, isRight: boolean): LabelledAnswer => ({
    ...about,
    stateTokens,
    logits: Array.from({ length: options }, (_, i) => -i),
    target: Array.from({ length: options }, (_, i) => (i === (isRight ? 0 : 1) ? 1 : 0)),
    names: Array.from({ length: options }, (_, i) => String(i)),
  });
  const answers = [labelled(77, 5000, true), labelled(2, 0, true), labelled(2, 33, false), labelled(5, 64, true)];

  it('is told by length of the document, short to long', () => {
    expect(accuracyByStateTokens(answers)).toEqual([
      { interval: '1–32', questions: 1, accuracy: 1 },
      { interval: '33–64', questions: 2, accuracy: 0.5 },
      { interval: 'over 2048', questions: 1, accuracy: 1 },
    ]);
  });

  it('is told by number of options, few to many', () => {
    expect(accuracyByOptions(answers).map(({ interval, questions }) => [interval, questions])).toEqual([
      ['1–2', 2],
      ['3–5', 1],
      ['over 32', 1],
    ]);
  });
});
