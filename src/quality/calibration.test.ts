import { describe, expect, it } from 'vitest';
import { softmax } from '../domain/temperature.ts';
import { calibrate } from './calibration.ts';
import type { LabelledAnswer } from './labelled-answer.ts';
import { fitTemperature, fitTemperatures } from './temperature-fit.ts';

/** Seeded uniform numbers in [0, 1). */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** Answers whose logits are `sure` times those that the right options were drawn with. */
function drawn({ count, options, sure, seed = 1 }: { count: number; options: number; sure: number; seed?: number }) {
  const random = makeRandom(seed);
  return Array.from({ length: count }, (_, row): LabelledAnswer => {
    const truth = Array.from({ length: options }, () => 4 * random() - 2);
    let [rest, gold] = [random(), 0];
    for (const probability of softmax(truth, 1)) {
      if (rest < probability || gold === options - 1) break;
      rest -= probability;
      gold += 1;
    }
    return {
      task: 'a task',
      row,
      type: 'choice',
      logits: truth.map((logit) => sure * logit),
      target: truth.map((_, i) => (i === gold ? 1 : 0)),
      names: truth.map((_, i) => String(i)),
      stateTokens: 1,
    };
  });
}

const evenly = (answers: readonly LabelledAnswer[]) => answers.map(() => 1 / answers.length);
const ONES = { choice: { '2': 1, '3-5': 1, '6-10': 1, '11+': 1 }, noul: { '2': 1 }, score: { '2': 1, '3-5': 1 } };

describe('a temperature', () => {
  it('undoes what made the answers too sure', () => {
    const answers = drawn({ count: 4000, options: 4, sure: 3 });
    expect(fitTemperature(answers, evenly(answers))).toBeGreaterThan(2.8);
    expect(fitTemperature(answers, evenly(answers))).toBeLessThan(3.2);
  });

  it('stays between 0.5 and 5', () => {
    const right = drawn({ count: 100, options: 3, sure: 1 }).map((answer) => ({ ...answer, target: [1, 0, 0] }));
    const always = right.map((answer) => ({ ...answer, logits: [5, 0, 0] }));
    const never = right.map((answer) => ({ ...answer, logits: [0, 5, 0] }));
    expect(fitTemperature(always, evenly(always))).toBeCloseTo(0.5, 3);
    expect(fitTemperature(never, evenly(never))).toBeCloseTo(5, 3);
  });

  it('is that of its type where a bucket has few answers, and 1 where a type has none', () => {
    const answers = [
      ...drawn({ count: 200, options: 4, sure: 2 }),
      ...drawn({ count: 20, options: 8, sure: 2, seed: 7 }),
    ];
    const { choice, noul, score } = fitTemperatures(answers);
    expect(choice?.['6-10']).toBe(choice?.['2']);
    expect(choice?.['6-10']).not.toBe(choice?.['3-5']);
    expect(noul).toEqual({ '2': 1 });
    expect(score).toEqual({ '2': 1, '3-5': 1, '6-10': 1 });
  });
});

describe('calibration on own rows', () => {
  it('replaces what it has enough answers for, and keeps the rest', () => {
    const answers = [
      ...drawn({ count: 300, options: 4, sure: 3 }),
      ...drawn({ count: 49, options: 8, sure: 3, seed: 5 }),
    ];
    const { groups, temperatures, before, after } = calibrate(answers, ONES);
    expect(groups.map(({ bucket, answers: count, verdict }) => [bucket, count, verdict])).toEqual([
      ['3-5', 300, 'fitted'],
      ['6-10', 49, 'too few answers'],
    ]);
    expect(temperatures.choice['3-5']).toBeGreaterThan(2);
    expect(temperatures).toEqual({ ...ONES, choice: { ...ONES.choice, '3-5': temperatures.choice['3-5'] } });
    expect(after.nll).toBeLessThan(before.nll);
    expect(after.ece).toBeLessThan(before.ece);
    expect(after.accuracy).toBe(before.accuracy);
  });

  it('keeps a temperature that is as good already', () => {
    const answers = drawn({ count: 300, options: 4, sure: 3 });
    const first = calibrate(answers, ONES);
    const second = calibrate(answers, first.temperatures);
    expect(second.groups[0]).toMatchObject({ verdict: 'no gain' });
    expect(second.temperatures).toEqual(first.temperatures);
    expect(second.after).toEqual(second.before);
  });

  it('names every bucket beside a fitted one, so that none follows it', () => {
    const answers = drawn({ count: 300, options: 4, sure: 3 });
    const { temperatures } = calibrate(answers, { choice: { '2': 1.5 }, noul: {}, score: { '2': 2 } });
    const fitted = temperatures.choice['3-5'];
    expect(fitted).toBeGreaterThan(2);
    expect(temperatures).toEqual({
      choice: { '2': 1.5, '3-5': fitted, '6-10': 1.5, '11+': 1.5 },
      noul: {},
      score: { '2': 2 },
    });
  });

  it('measures only on rows that were not fitted on', () => {
    // Many questions, few rows: the folds would have nothing to fit on.
    const answers = drawn({ count: 80, options: 4, sure: 3 }).map((answer) => ({ ...answer, row: answer.row % 4 }));
    expect(calibrate(answers, ONES).groups[0]?.verdict).toBe('too few answers');
  });

  it('leaves out questions of one option, and has nothing to say of nothing', () => {
    const lone = drawn({ count: 60, options: 1, sure: 1 });
    expect(calibrate(lone, ONES)).toMatchObject({ groups: [], temperatures: ONES, before: { questions: 0 } });
  });
});
