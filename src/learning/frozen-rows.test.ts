import { describe, expect, it } from 'vitest';
import type { ChoiceOption, Question } from '../domain/question.ts';
import { hashOfState, identify } from './frozen-rows.ts';

const OPTIONS: readonly ChoiceOption[] = [
  { name: 'billing', description: 'money' },
  { name: 'technical', description: null },
  { name: 'other', description: null },
];

const choice = (options: readonly ChoiceOption[], instructions = 'Which?'): Question => ({
  type: 'choice',
  instructions,
  options,
});
const noul = (whenFalse: string | null, whenTrue: string | null): Question => ({
  type: 'noul',
  instructions: 'Is it?',
  whenFalse,
  whenTrue,
});
const score = (...levels: string[]): Question => ({ type: 'score', instructions: 'How much?', levels });

const without = (question: Question) => {
  const { order: _, ...identity } = identify(question);
  return identity;
};

describe('a question', () => {
  it('is the same however its options are ordered, and each hash leads back to its place', () => {
    const reversed = OPTIONS.toReversed();
    expect(without(choice(reversed))).toEqual(without(choice(OPTIONS)));
    const [one, other] = [identify(choice(OPTIONS)), identify(choice(reversed))];
    expect(one.order.map((place) => OPTIONS[place])).toEqual(other.order.map((place) => reversed[place]));
    expect(one.options).toEqual(one.options.toSorted());
    expect(one.options.every((option) => /^[0-9a-f]{64}$/.test(option))).toBe(true);
  });

  it.each([
    ['other instructions', choice(OPTIONS, 'Which one?')],
    ['an option more', choice([...OPTIONS, { name: 'none', description: null }])],
    ['another description', choice([{ name: 'billing', description: 'cash' }, ...OPTIONS.slice(1)])],
    ['a description within the name', choice([{ name: 'billing: money', description: null }, ...OPTIONS.slice(1)])],
    ['another type', score('billing', 'technical', 'other')],
  ])('is another one with %s', (_name, question) => {
    expect(without(question)).not.toEqual(without(choice(OPTIONS)));
  });

  it('is the same with an empty description as with none, as models read it', () => {
    const empty = OPTIONS.map(({ name, description }) => ({ name, description: description ?? '' }));
    expect(without(choice(empty))).toEqual(without(choice(OPTIONS)));
    expect(without(noul('', 'yes'))).toEqual(without(noul(null, 'yes')));
  });

  it('of false or true is another one when its criteria change places', () => {
    expect(without(noul('a', 'b')).asked).not.toBe(without(noul('b', 'a')).asked);
  });

  it('of levels is another one in another order', () => {
    expect(identify(score('low', 'high')).order).toEqual([0, 1]);
    expect(without(score('low', 'high')).asked).not.toBe(without(score('high', 'low')).asked);
    expect(without(score('low', 'high')).options).toEqual(without(score('high', 'low')).options.toReversed());
  });

  it('does not run into its neighbours', () => {
    expect(without(score('ab', 'c')).asked).not.toBe(without(score('a', 'bc')).asked);
  });
});

describe('a document', () => {
  it('is known by a hash of its own', () => {
    expect(hashOfState('a')).toBe(hashOfState('a'));
    expect(new Set(['a', 'a ', '', '\ud800', '\ufffd'].map(hashOfState)).size).toBe(5);
    expect(hashOfState('a text')).not.toContain('a text');
  });
});
