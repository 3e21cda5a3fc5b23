import { describe, expect, it } from 'vitest';
import { argmax, choiceConfidence, expectedScore, probabilitiesInOrder, scoreConfidence, toAnswer } from './answer.ts';

describe('confidence', () => {
  it.each([
    [[0.88, 0.12, 0], 0.82],
    [[0.4, 0.34, 0.24, 0.02], 0.2],
    [[0.25, 0.25, 0.25, 0.25], 0],
    [[0, 1, 0], 1],
    [[1], 1],
  ])('of a choice %j is %d', (probabilities, confidence) => {
    expect(choiceConfidence(probabilities)).toBeCloseTo(confidence, 12);
  });

  it.each([
    [[0.005, 0.005, 0.04, 0.25, 0.7], 0.6958333],
    [[0.5, 0, 0.5], 0],
    [[1, 0], 1],
    [[0, 0, 1], 1],
  ])('of a score %j is %d', (probabilities, confidence) => {
    expect(scoreConfidence(probabilities)).toBeCloseTo(confidence, 7);
  });
});

describe('answer', () => {
  it('takes the first of equal probabilities', () => expect(argmax([0.4, 0.4, 0.2])).toBe(0));

  it('weighs levels by their probabilities', () => expect(expectedScore([0, 0.95, 0.05])).toBeCloseTo(1.05, 12));

  it('of a choice keeps names that are any text, in the order of the request', () => {
    const names = ['10', '__proto__', '', 'constructor'];
    const options = names.map((name) => ({ name, description: null }));
    const answer = toAnswer({ type: 'choice', instructions: 'x', options }, [0.1, 0.6, 0.2, 0.1]);
    expect(answer).toMatchObject({ type: 'choice', choice: '__proto__' });
    expect(answer.type === 'choice' && answer.probabilities.map(({ name }) => name)).toEqual(names);
  });

  it('of a noul is the probability of true', () => {
    const question = { type: 'noul', instructions: 'x', whenFalse: null, whenTrue: null } as const;
    expect(toAnswer(question, [0.3, 0.7])).toEqual({ type: 'noul', noul: 0.7 });
  });

  it('of a score carries its levels', () => {
    const answer = toAnswer({ type: 'score', instructions: 'x', levels: ['low', 'high'] }, [0.25, 0.75]);
    expect(answer).toMatchObject({ type: 'score', score: 0.75, levels: ['low', 'high'] });
  });
});

describe('probabilities of an answer', () => {
  it('stand in the order of the question', () => {
    const probabilities = [
      { name: 'b', probability: 0.7 },
      { name: 'a', probability: 0.3 },
    ];
    expect(probabilitiesInOrder({ type: 'choice', choice: 'b', probabilities, confidence: 0.4 })).toEqual([0.7, 0.3]);
    expect(
      probabilitiesInOrder({ type: 'score', score: 1, levels: ['x', 'y'], probabilities: [0, 1], confidence: 1 }),
    ).toEqual([0, 1]);
  });

  it('are those of false, then of true, for a noul', () => {
    expect(probabilitiesInOrder({ type: 'noul', noul: 0.75 })).toEqual([0.25, 0.75]);
  });
});
