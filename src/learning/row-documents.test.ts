import { describe, expect, it } from 'vitest';
import { parseLabelledRows } from '../quality/labelled-row.ts';
import { identify } from './frozen-rows.ts';
import { groupByDocument } from './row-documents.ts';

const team = (criteria: object, gold: string) => ({ type: 'choice', instructions: 'Which team?', criteria, gold });
const rowsOf = (...rows: readonly unknown[]) => parseLabelledRows(rows.map((row) => JSON.stringify(row)).join('\n'));

describe('rows by document', () => {
  it('ask a question once, whatever it is called and however its options are ordered', () => {
    const documents = groupByDocument(
      rowsOf(
        { state: 'one', questions: { team: team({ a: null, b: 'bee', c: null }, 'b') } },
        { state: 'two', questions: { other: team({ c: null, b: 'bee', a: null }, 'c') } },
        { state: 'one', questions: { urgent: { type: 'noul', instructions: 'Is it?', gold: true } } },
      ),
    );
    expect(documents.map(({ state, answers }) => [state, answers.map(({ line }) => line)])).toEqual([
      ['one', [1, 3]],
      ['two', [2]],
    ]);
    const [first, second] = [documents[0]?.answers[0], documents[1]?.answers[0]];
    expect(second?.asked).toBe(first?.asked);
    expect(first?.asked.name).toBe('team');
    const named = (answer: typeof first) => answer?.asked.optionNames[answer.target.indexOf(1)];
    expect([named(first), named(second)]).toEqual(['b', 'c']);
    if (first !== undefined) expect(first.asked.identity).toEqual(identify(first.asked.question));
  });

  it('tell another description as another question', () => {
    const documents = groupByDocument(
      rowsOf(
        { state: 'one', questions: { team: team({ a: null, b: 'bee' }, 'b') } },
        { state: 'two', questions: { team: team({ a: null, b: 'wasp' }, 'b') } },
      ),
    );
    expect(new Set(documents.map(({ answers }) => answers[0]?.asked)).size).toBe(2);
  });

  it('are refused by their lines where no server would answer them', () => {
    const score = (levels: number) => ({
      type: 'score',
      instructions: 'How?',
      criteria: Array.from({ length: levels }, (_, level) => `level ${level}`),
      gold: 0,
    });
    const many = Object.fromEntries(Array.from({ length: 256 }, (_, place) => [`o${place}`, null]));
    const rows = rowsOf(
      { state: 'one', questions: { only: team({ a: null }, 'a') } },
      { state: 'two', questions: { many: team(many, 'o3'), fine: score(3) } },
      { state: 'three', questions: { long: score(11) } },
    );
    expect(() => groupByDocument(rows)).toThrow(
      [
        'The rows have faults:',
        'line 1: question "only": it has one option, so there is nothing to learn',
        'line 2: question "many": it has 256 options, of 255 at most',
        'line 3: question "long": it has 11 levels; a score has 2 to 10',
      ].join('\n'),
    );
  });
});
