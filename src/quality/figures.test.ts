import { describe, expect, it } from 'vitest';
import { calibrationError, type Guess, macroF1, measureFigures, reliabilityBins, sureAnswers } from './figures.ts';
import type { LabelledAnswer } from './labelled-answer.ts';

const guess = (confidence: number, isRight: boolean): Guess => ({ confidence, isRight });

function answer(probabilities: readonly number[], gold: number): LabelledAnswer {
  return {
    task: 'a task',
    row: 0,
    type: 'choice',
    logits: probabilities.map(Math.log),
    target: probabilities.map((_, i) => (i === gold ? 1 : 0)),
    names: probabilities.map((_, i) => `option ${i}`),
    stateTokens: 1,
  };
}

describe('calibration error', () => {
  it('is the distance between confidence and accuracy', () => {
    const guesses = [guess(0.8, true), guess(0.8, true), guess(0.8, true), guess(0.8, false)];
    expect(calibrationError(guesses)).toBeCloseTo(0.05, 12);
  });

  it('weighs bins by their answers and does not let them make up for each other', () => {
    const guesses = [guess(0.55, true), guess(0.95, false), guess(0.95, false), guess(0.95, true)];
    expect(calibrationError(guesses)).toBeCloseTo((0.45 + 3 * (0.95 - 1 / 3)) / 4, 12);
  });

  it('is 0 of certain and right answers, 1 of certain and wrong ones, NaN of none', () => {
    expect(calibrationError([guess(1, true)])).toBe(0);
    expect(calibrationError([guess(1, false)])).toBe(1);
    expect(calibrationError([])).toBeNaN();
  });

  it('has fifteen bins, the last with 1 in it', () => {
    const bins = reliabilityBins([guess(1, true), guess(14 / 15 + 1e-9, false), guess(0, false)]);
    expect(bins).toHaveLength(15);
    expect(bins.map(({ count }) => count)).toEqual([1, ...Array.from({ length: 13 }, () => 0), 2]);
    expect(bins[14]).toMatchObject({ accuracy: 0.5, high: 1 });
    expect(bins[3]?.accuracy).toBeNaN();
  });
});

describe('macro-F1', () => {
  it('is the mean over the names that are right somewhere', () => {
    const pairs = [
      { guess: 'a', gold: 'a' },
      { guess: 'b', gold: 'a' },
      { guess: 'c', gold: 'b' },
    ];
    // a: 2·1 / (1 + 2); b: 0. c is nobody's gold.
    expect(macroF1(pairs)).toBeCloseTo(1 / 3, 12);
  });

  it('takes names for what they are', () => {
    expect(macroF1([{ guess: '__proto__', gold: '__proto__' }])).toBe(1);
    expect(macroF1([])).toBeNaN();
  });
});

describe('answers that are sure enough for 5 % error', () => {
  it('may pass through a worse stretch', () => {
    const right = Array.from({ length: 30 }, (_, i) => guess(0.9 - i / 100, true));
    expect(sureAnswers([guess(0.99, false), ...right], 0.05)).toHaveLength(31);
    expect(sureAnswers([guess(0.99, false), ...right.slice(0, 10)], 0.05)).toEqual([]);
  });

  it('stop before the errors, whatever order the answers come in', () => {
    expect(sureAnswers([guess(0.2, false), guess(0.9, true), guess(0.95, true)], 0.05)).toEqual([
      guess(0.95, true),
      guess(0.9, true),
    ]);
    expect(sureAnswers([], 0.05)).toEqual([]);
  });
});

describe('figures', () => {
  it('are right for known answers', () => {
    const figures = measureFigures([answer([0.75, 0.25], 0), answer([0.25, 0.75], 0)]);
    expect(figures).toMatchObject({ questions: 2, accuracy: 0.5, answeredAt5: 0.5 });
    expect(figures.thresholdAt5).toBeCloseTo(0.75, 12);
    expect(figures.nll).toBeCloseTo(-(Math.log(0.75) + Math.log(0.25)) / 2, 12);
    expect(figures.ece).toBeCloseTo(0.25, 12);
  });

  it('follow temperatures, which change no choice', () => {
    const answers = [answer([0.9, 0.1], 0), answer([0.9, 0.1], 1)];
    const flat = measureFigures(answers, { choice: { '2': 5 } });
    expect(flat.accuracy).toBe(measureFigures(answers).accuracy);
    expect(flat.nll).toBeLessThan(measureFigures(answers).nll);
  });

  it('bound the loss of a certain mistake', () => {
    expect(measureFigures([answer([1, 0], 1)]).nll).toBeCloseTo(-Math.log(1e-12), 9);
  });

  it('of no answers are NaN', () => {
    const { questions, ...rest } = measureFigures([]);
    expect(questions).toBe(0);
    for (const value of Object.values(rest)) expect(value).toBeNaN();
  });
});
