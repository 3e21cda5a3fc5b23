import { describe, expect, it } from 'vitest';
import { chooseRecordColumns, rowOfRecord } from './labelled-record.ts';

const QUESTIONS = {
  team: { type: 'choice', instructions: 'Which team?', criteria: { billing: null, '10': null } },
  urgent: { type: 'noul', instructions: 'Is it urgent?' },
  mood: { type: 'score', instructions: 'How angry?', criteria: ['calm', 'cross', '0'] },
};

describe('the columns of a record', () => {
  it('are the document and those named as a question', () => {
    expect(chooseRecordColumns(['id', 'text', 'urgent', 'urgent_probability', 'team'], QUESTIONS)).toEqual({
      text: 'text',
      questions: ['team', 'urgent'],
    });
    expect(chooseRecordColumns(['mail', 'team'], QUESTIONS, 'mail')).toEqual({ text: 'mail', questions: ['team'] });
  });

  it.each([
    [
      ['mail', 'team'],
      undefined,
      'which column is the document? Name it with --text-column. There are "mail", "team".',
    ],
    [['text', 'team'], 'mail', 'there is no column "mail". There are "text", "team".'],
    [['text', 'label'], undefined, 'no column is named as a question of --questions. There are "text", "label".'],
  ])('%j with %s are refused', (heading, wanted, message) => {
    expect(() => chooseRecordColumns(heading, QUESTIONS, wanted)).toThrow(message);
  });
});

describe('a record', () => {
  const row = (cells: Record<string, string>) =>
    rowOfRecord(cells, { text: 'text', questions: ['team', 'urgent', 'mood'] }, QUESTIONS);

  it('says what is right in the way of each type', () => {
    expect(row({ text: 'a', team: '10', urgent: 'TRUE', mood: '1' })).toEqual({
      state: 'a',
      gold: { team: '10', urgent: true, mood: 1 },
    });
    expect(row({ text: 'a', team: 'billing', urgent: ' no ', mood: 'cross' })).toMatchObject({
      gold: { team: 'billing', urgent: false, mood: 1 },
    });
  });

  it('takes the text of a level before its number', () => {
    expect(row({ text: 'a', team: '', urgent: '', mood: '0' })).toEqual({ state: 'a', gold: { mood: 2 } });
  });

  it.each([
    [{ urgent: 'perhaps' }, 'question "urgent": a noul is true or false'],
    [{ mood: 'furious' }, 'question "mood": a score is the number of a level, from 0, or its text'],
  ])('%j is refused', (cells, message) => {
    expect(() => row({ text: 'a', ...cells })).toThrow(message);
  });
});
