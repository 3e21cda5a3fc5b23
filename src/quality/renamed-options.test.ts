import { describe, expect, it } from 'vitest';
import { parseLabelledRows } from './labelled-row.ts';

const renames = new Map([['refunds', 'money']]);
const TEAM = { type: 'choice', instructions: 'Which team?', criteria: { refunds: 'money back', other: null } };
const read = (row: unknown, questions?: unknown) =>
  parseLabelledRows(JSON.stringify(row), { renames, ...(questions === undefined ? {} : { questions }) })[0]?.questions;

describe('an option with another name by now', () => {
  it('is the new one in a row that has its own question', () => {
    expect(read({ state: 'a', questions: { team: { ...TEAM, gold: 'refunds' } } })).toMatchObject([
      {
        names: ['money', 'other'],
        target: [1, 0],
        question: { options: [{ name: 'money', description: 'money back' }, {}] },
      },
    ]);
  });

  it('is the new one where rows still say the old one of a question that has the new one', () => {
    const shared = { team: { ...TEAM, criteria: { money: null, other: null } } };
    expect(read({ state: 'a', gold: { team: 'refunds' } }, shared)).toMatchObject([{ target: [1, 0] }]);
    expect(read({ state: 'a', gold: { team: 'money' } }, shared)).toMatchObject([{ target: [1, 0] }]);
    expect(read({ state: 'a', soft: { team: { refunds: 1, money: 1, other: 2 } } }, shared)).toMatchObject([
      { target: [0.5, 0.5] },
    ]);
  });

  it('joins the new one where a question has both', () => {
    const both = { ...TEAM, criteria: { refunds: null, money: 'all of it', other: null } };
    expect(read({ state: 'a', questions: { team: { ...both, gold: 'refunds' } } })).toMatchObject([
      { names: ['money', 'other'], target: [1, 0], question: { options: [{ description: 'all of it' }, {}] } },
    ]);
  });

  it('leaves questions of other types alone', () => {
    const noul = { type: 'noul', instructions: 'Is it?', gold: true };
    expect(read({ state: 'a', questions: { noul } })).toMatchObject([{ target: [0, 1] }]);
  });
});
