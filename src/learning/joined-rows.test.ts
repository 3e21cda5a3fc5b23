import { describe, expect, it } from 'vitest';
import type { ChoiceQuestion } from '../domain/question.ts';
import { type FrozenQuestion, type FrozenRow, identify } from './frozen-rows.ts';
import { joinRows, renameOptions } from './joined-rows.ts';

const choice = (...names: readonly string[]): ChoiceQuestion => ({
  type: 'choice',
  instructions: 'Which team?',
  options: names.map((name) => ({ name, description: name === 'b' ? 'bee' : null })),
});

/** @param answers document and the option that is right */
function frozen(question: ChoiceQuestion, line: number, ...answers: readonly [state: string, option: string][]) {
  const { type, asked, options, order } = identify(question);
  const names = order.map((place) => question.options[place]?.name);
  const rows = answers.map(
    ([state, option]): FrozenRow => ({
      line,
      state,
      vector: new Float32Array([state.length]),
      zeroShot: names.map((_, place) => (place + 1) / 10),
      target: names.map((name) => (name === option ? 1 : 0)),
    }),
  );
  return { type, asked, options, rows };
}

const hashOf = (name: string): string => identify(choice(name)).options[0] ?? '';
const rightOf = ({ options }: FrozenQuestion, { target }: FrozenRow): string | undefined => options[target.indexOf(1)];

describe('rows that are added', () => {
  it('stand after the earlier ones of the same question', () => {
    const earlier = [frozen(choice('a', 'b'), 0, ['one', 'a']), frozen(choice('x', 'y'), 0, ['one', 'x'])];
    const { questions, touched, replacedAnswers } = joinRows(earlier, [frozen(choice('b', 'a'), 7, ['two', 'b'])]);
    expect(questions.map(({ rows }) => rows.map(({ line, state }) => [line, state]))).toEqual([
      [
        [0, 'one'],
        [7, 'two'],
      ],
      [[0, 'one']],
    ]);
    expect([...touched]).toEqual([questions[0]]);
    expect(replacedAnswers).toBe(0);
  });

  it('take the place of what was said of the same document before, and change nothing the second time', () => {
    const earlier = [frozen(choice('a', 'b'), 0, ['one', 'a'], ['two', 'a'])];
    const fresh = [frozen(choice('a', 'b'), 3, ['one', 'b'], ['one', 'a'])];
    const { questions, replacedAnswers } = joinRows(earlier, fresh);
    const [question] = questions;
    expect(replacedAnswers).toBe(1);
    expect(question?.rows.map((row) => [row.state, rightOf(question, row)])).toEqual([
      ['two', hashOf('a')],
      ['one', hashOf('b')],
      ['one', hashOf('a')],
    ]);
    expect(joinRows(questions, fresh).questions).toEqual(questions);
  });

  it('may bring options: rows before them were not offered these', () => {
    const grown = frozen(choice('a', 'b', 'c'), 2, ['two', 'c']);
    for (const [earlier, fresh] of [
      [[frozen(choice('a', 'b'), 0, ['one', 'b'])], [grown]],
      [[grown], [frozen(choice('a', 'b'), 0, ['one', 'b'])]],
    ] as const) {
      const { questions, touched } = joinRows(earlier, fresh);
      const [question] = questions;
      expect([questions.length, touched.size]).toEqual([1, 1]);
      expect(question?.options).toEqual(grown.options);
      const old = question?.rows.find(({ state }) => state === 'one');
      const place = grown.options.indexOf(hashOf('c'));
      expect(old?.zeroShot.map(Number.isNaN)).toEqual(grown.options.map((_, at) => at === place));
      expect(old?.zeroShot.filter((value) => !Number.isNaN(value))).toEqual([0.1, 0.2]);
      expect(old?.target.indexOf(1)).toBe(grown.options.indexOf(hashOf('b')));
    }
  });

  it('are a question of their own where each has options that the other lacks', () => {
    const earlier = [frozen(choice('a', 'b'), 0, ['one', 'a'])];
    expect(joinRows(earlier, [frozen(choice('a', 'c'), 1, ['two', 'c'])]).questions).toHaveLength(2);
  });
});

describe('an option that has another name by now', () => {
  it('is known by its hash, with the description of the new one or none', () => {
    const earlier = [frozen(choice('a', 'old'), 0, ['one', 'old'], ['two', 'a'])];
    const now = choice('a', 'new');
    const { questions, done } = renameOptions(earlier, [now], [{ from: 'old', to: 'new' }]);
    const [question] = questions;
    expect(question?.options).toEqual(identify(now).options);
    expect(question?.rows.map((row) => rightOf(question, row))).toEqual([hashOf('new'), hashOf('a')]);
    expect([...done]).toEqual([{ from: 'old', to: 'new' }]);
    const bee = renameOptions(
      [frozen(choice('a', 'b'), 0, ['one', 'b'])],
      [{ ...now, options: [{ name: 'new', description: 'bee' }] }],
      [{ from: 'b', to: 'new' }],
    );
    expect(bee.done.size).toBe(1);
  });

  it('adds what it had to an option that is there already', () => {
    const earlier = [frozen(choice('a', 'old', 'new'), 0, ['one', 'old'])];
    const { questions } = renameOptions(earlier, [choice('a', 'new')], [{ from: 'old', to: 'new' }]);
    const [question] = questions;
    expect(question?.options).toEqual(identify(choice('a', 'new')).options);
    expect(question?.rows.map((row) => rightOf(question, row))).toEqual([hashOf('new')]);
    expect(question?.rows[0]?.zeroShot.reduce((sum, value) => sum + value)).toBeCloseTo(0.6, 12);
  });

  it('is told as unknown where nothing has it', () => {
    const earlier = [frozen(choice('a', 'b'), 0, ['one', 'b'])];
    const { questions, done } = renameOptions(earlier, [choice('a', 'new')], [{ from: 'old', to: 'new' }]);
    expect(questions).toEqual(earlier);
    expect(done.size).toBe(0);
  });
});
