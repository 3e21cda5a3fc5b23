import { describe, expect, it } from 'vitest';
import type { Question } from '../domain/question.ts';
import { type Ask, type AskedModel, answerRows, measureOrderInstability, UnansweredRow } from './asking.ts';
import { probabilitiesOf } from './labelled-answer.ts';
import { type LabelledRow, parseLabelledRows } from './labelled-row.ts';

const criteria = { alpha: null, be: null, gamma: null };
const rows: LabelledRow[] = parseLabelledRows(
  ['one', 'two words', 'three whole words'].map((state) => writeRow(state)).join('\n'),
);

function writeRow(state: string): string {
  const team = { type: 'choice', instructions: 'Which?', criteria, gold: 'be' };
  return JSON.stringify({ state, questions: { team, is: { type: 'noul', instructions: 'Is it?', gold: true } } });
}

/** Longer names are more probable, wherever they stand. */
const byName: Ask = async (_state, questions) => questions.map(probabilitiesByName);

function probabilitiesByName(question: Question): number[] {
  if (question.type !== 'choice') return [0.25, 0.75];
  const lengths = question.options.map(({ name }) => name.length);
  const total = lengths.reduce((a, b) => a + b, 0);
  return lengths.map((length) => length / total);
}

const model = (ask: Ask): AskedModel => ({
  ask,
  temperatures: { choice: { '3-5': 2 }, noul: { '2': 3 } },
  countTokens: (text) => text.split(' ').length,
  atOnce: 2,
});

describe('answers of labelled rows', () => {
  it('stand beside what is right, in the order of the rows', async () => {
    const { answers, refusals } = await answerRows(rows, model(byName));
    expect(refusals).toEqual([]);
    expect(answers.map(({ task, row, stateTokens }) => [task, row, stateTokens])).toEqual([
      ['team', 1, 1],
      ['is', 1, 1],
      ['team', 2, 2],
      ['is', 2, 2],
      ['team', 3, 3],
      ['is', 3, 3],
    ]);
    const [first] = answers;
    expect(first).toMatchObject({ type: 'choice', names: ['alpha', 'be', 'gamma'], target: [0, 1, 0] });
    const again = first === undefined ? [] : probabilitiesOf(first, model(byName).temperatures);
    expect(again[1]).toBeCloseTo(2 / 12, 12);
  });

  it('leave out rows that the model refuses, and say which', async () => {
    const ask: Ask = async (state, questions) => {
      if (state.includes(' ')) throw new UnansweredRow(`${state.length} is too long`);
      return await byName(state, questions);
    };
    const { answers, refusals } = await answerRows(rows, model(ask));
    expect(answers).toHaveLength(2);
    expect(refusals).toEqual([
      { line: 2, message: '9 is too long' },
      { line: 3, message: '17 is too long' },
    ]);
  });

  it('end with any other failure', async () => {
    const ask: Ask = async () => {
      throw new Error('lost');
    };
    await expect(answerRows(rows, model(ask))).rejects.toThrow('lost');
  });
});

describe('order instability', () => {
  it('is 0 when names alone count', async () => {
    expect(await measureOrderInstability(rows, model(byName))).toEqual({ questions: 3, largestShift: 0 });
  });

  it('shows a model that prefers what stands first', async () => {
    const first: Ask = async (_state, questions) =>
      questions.map((question) => (question.type === 'choice' ? [0.5, 0.3, 0.2] : [0.5, 0.5]));
    const { largestShift } = await measureOrderInstability(rows, model(first));
    expect(largestShift).toBeCloseTo(0.3, 12);
  });

  it('has nothing to say without choices, or where nothing is answered', async () => {
    const noChoices = rows.map((row) => ({ ...row, questions: row.questions.slice(1) }));
    expect(await measureOrderInstability(noChoices, model(byName))).toEqual({ questions: 0, largestShift: 0 });
    const refuse: Ask = async () => {
      throw new UnansweredRow('no');
    };
    expect(await measureOrderInstability(rows, model(refuse))).toEqual({ questions: 0, largestShift: 0 });
  });
});
