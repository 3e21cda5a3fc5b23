import { describe, expect, it } from 'vitest';
import { findLabelTask } from './label-task.ts';
import { type LabelledFileError, parseLabelledRows, type RowDefaults } from './labelled-row.ts';
import { writeQuestion } from './wire-question.ts';

const line = (row: unknown): string => JSON.stringify(row);
const choice = { type: 'choice', instructions: 'Which team?', criteria: { billing: 'payments', technical: null } };
const noul = { type: 'noul', instructions: 'Is it urgent?' };
const score = { type: 'score', instructions: 'How angry?', criteria: ['calm', 'cross', 'furious'] };

function questionsOf(row: unknown, defaults?: RowDefaults) {
  return parseLabelledRows(line(row), defaults)[0]?.questions ?? [];
}

function faultOf(text: string, defaults?: RowDefaults): string {
  try {
    parseLabelledRows(text, defaults);
  } catch (error) {
    return (error as LabelledFileError).message;
  }
  return 'none';
}

describe('a row with questions by name', () => {
  it('has the right answer in each question', () => {
    const questions = {
      team: { ...choice, gold: 'technical' },
      urgent: { ...noul, gold: true },
      mood: { ...score, gold: 1 },
    };
    const [team, urgent, mood] = questionsOf({ state: 'a text', questions });
    expect(team).toEqual({
      task: 'team',
      question: {
        type: 'choice',
        instructions: 'Which team?',
        options: [
          { name: 'billing', description: 'payments' },
          { name: 'technical', description: null },
        ],
      },
      names: ['billing', 'technical'],
      target: [0, 1],
    });
    expect(urgent).toMatchObject({ task: 'urgent', names: ['false', 'true'], target: [0, 1] });
    expect(mood).toMatchObject({ task: 'mood', names: ['0', '1', '2'], target: [0, 1, 0] });
  });

  it('may have the right answers beside the questions, by name', () => {
    const row = {
      state: '',
      questions: { team: choice, urgent: noul },
      gold: { team: 'billing' },
      soft: { urgent: { true: 3, false: 1 } },
    };
    expect(questionsOf(row).map(({ target }) => target)).toEqual([
      [1, 0],
      [0.25, 0.75],
    ]);
  });

  it('may give shares, which sum to anything', () => {
    const questions = {
      a: { ...choice, soft: { billing: 2, technical: 6 } },
      b: { ...score, soft: [1, 0, 3] },
      c: { ...score, soft: { 2: 1 } },
    };
    expect(questionsOf({ state: '', questions }).map(({ target }) => target)).toEqual([
      [0.25, 0.75],
      [0.25, 0, 0.75],
      [0, 0, 1],
    ]);
  });

  it('keeps names that are any text', () => {
    const criteria = JSON.parse('{"__proto__": null, "10": null, "": null, "constructor": "x"}');
    const [asked] = questionsOf(
      JSON.parse(`{"state":"","questions":{"__proto__":${line({ ...choice, criteria, gold: '__proto__' })}}}`),
    );
    expect(asked?.task).toBe('__proto__');
    expect(asked?.target[asked.names.indexOf('__proto__')]).toBe(1);
    expect(new Set(asked?.names)).toEqual(new Set(['__proto__', '10', '', 'constructor']));
  });
});

it('a row with a list of questions has their types for names', () => {
  const questions = [
    { ...choice, gold: 'billing' },
    { ...noul, gold: false },
  ];
  expect(questionsOf({ state: '', questions }).map(({ task }) => task)).toEqual(['choice', 'noul']);
});

describe('rows with shared questions', () => {
  const defaults = { questions: { team: choice, urgent: noul } };

  it('are asked what they have an answer to', () => {
    expect(questionsOf({ state: '', gold: { urgent: true } }, defaults).map(({ task }) => task)).toEqual(['urgent']);
  });

  it.each([
    [{ state: '', gold: { teem: 'billing' } }, 'there is no question "teem"'],
    [{ state: '' }, 'no questions with a right answer'],
  ])('are refused as %j', (row, told) => expect(faultOf(line(row), defaults)).toContain(told));
});

describe('rows with a label', () => {
  const tasks = [
    { task: 'intents', type: 'choice', labels: { a_b: 'x', c: null }, instructions: ['One?', 'Two?'] },
    { task: 'moods', type: 'score', labels: ['low', 'high'], instructions: ['How?'] },
    { task: 'facts', type: 'noul', labels: { true: 'yes', false: null }, instructions: ['Is it?'] },
    { task: 'mixed', type: 'mixed', labels: null, instructions: [] },
  ];
  const defaultsFor = (name: string): RowDefaults => {
    const task = findLabelTask(tasks, name);
    return task === undefined ? {} : { task };
  };

  it('ask the wordings in turn', () => {
    const text = ['a_b', 'c', 'a_b'].map((label) => line({ state: '', label })).join('\n');
    const rows = parseLabelledRows(text, defaultsFor('intents'));
    expect(rows.map(({ questions }) => questions[0]?.question.instructions)).toEqual(['One?', 'Two?', 'One?']);
    expect(rows[1]?.questions[0]).toMatchObject({ task: 'intents', target: [0, 1] });
  });

  it('of a score name a level by its text, of a noul true or false', () => {
    expect(questionsOf({ state: '', soft: { high: 1, low: 1 } }, defaultsFor('moods'))[0]).toMatchObject({
      names: ['0', '1'],
      target: [0.5, 0.5],
    });
    const [fact] = questionsOf({ state: '', label: 'true' }, defaultsFor('facts'));
    expect(fact).toMatchObject({ question: { whenTrue: 'yes', whenFalse: null }, target: [0, 1] });
  });

  it('need a task of that name', () => {
    expect(findLabelTask(tasks, 'mixed')).toBeUndefined();
    expect(findLabelTask({}, 'intents')).toBeUndefined();
    expect(faultOf(line({ state: '', label: 'c' }))).toContain('need a tasks.json');
    expect(faultOf(line({ state: '', label: 'd' }), defaultsFor('intents'))).toContain('"d" is none of its options');
    expect(faultOf(line({ state: '' }), defaultsFor('intents'))).toContain("no 'label' and no 'soft'");
  });
});

describe('a bad row', () => {
  const withQuestion = (question: unknown) => line({ state: '', questions: { team: question } });

  it.each([
    ['nonsense', 'it is not valid JSON'],
    ['[1]', 'it is not a JSON object'],
    [line({ questions: {} }), "the field 'state' must be a string"],
    [line({ state: '' }), "it has no 'questions'"],
    [line({ state: '', questions: {} }), 'no questions with a right answer'],
    [line({ state: '', questions: 'x' }), "'questions' must be an object or an array"],
    [withQuestion(1), 'question "team": it must be an object'],
    [withQuestion({ ...choice, instructions: '' }), 'it has no instructions'],
    [withQuestion({ ...choice, type: 'rank' }), '\'type\' must be "choice", "score" or "noul"'],
    [withQuestion({ ...choice, criteria: {} }), 'at least one option'],
    [withQuestion({ ...choice, criteria: { a: 1 } }), 'a description must be a string or null'],
    [withQuestion({ ...score, criteria: ['a', 1] }), 'must be an array of strings'],
    [withQuestion({ ...noul, criteria: 'x' }), "an object with 'true' and 'false'"],
    [withQuestion(choice), "it has no right answer: 'gold' or 'soft'"],
    [withQuestion({ ...choice, gold: 'x', soft: {} }), "both 'gold' and 'soft'"],
    [withQuestion({ ...choice, gold: 'sales' }), '"sales" is none of its options'],
    [withQuestion({ ...choice, gold: 0 }), 'must be the name of an option'],
    [withQuestion({ ...noul, gold: 'yes' }), 'must be true or false'],
    [withQuestion({ ...score, gold: '1' }), 'the number of a level'],
    [withQuestion({ ...score, gold: 3 }), '"3" is none of its options'],
    [withQuestion({ ...choice, soft: { billing: -1 } }), 'not negative'],
    [withQuestion({ ...choice, soft: { billing: 0 } }), 'sum to 0'],
    [withQuestion({ ...choice, soft: 'billing' }), "'soft' must be an object"],
  ])('%s is told with its line', (text, told) => {
    const message = faultOf(`${line({ state: '', questions: { q: { ...noul, gold: true } } })}\n\n${text}`);
    expect(message).toMatch(/^line 3: /);
    expect(message).toContain(told);
  });

  it('is told together with the others, but not with a thousand of them', () => {
    const message = faultOf(Array.from({ length: 1000 }, () => 'x').join('\n'));
    expect(message.split('\n')).toHaveLength(11);
    expect(message).toMatch(/line 10: .*\n… and 990 more$/);
  });

  it('beyond the limit is not looked at', () => {
    const good = line({ state: '', questions: { q: { ...noul, gold: true } } });
    expect(parseLabelledRows(`${good}\nx`, {}, 1)).toHaveLength(1);
  });
});

it('a file without rows is an error', () => expect(faultOf('\n \n')).toContain('There are no rows'));

it('a question is written as a request has it, options in their order', () => {
  const options = [
    { name: '10', description: null },
    { name: '__proto__', description: 'x' },
    { name: '2', description: null },
  ];
  expect(writeQuestion({ type: 'choice', instructions: 'a"b', options })).toBe(
    '{"type":"choice","instructions":"a\\"b","criteria":{"10":null,"__proto__":"x","2":null}}',
  );
  expect(writeQuestion({ type: 'noul', instructions: 'q', whenTrue: 'y', whenFalse: null })).toBe(
    '{"type":"noul","instructions":"q","criteria":{"true":"y","false":null}}',
  );
  expect(writeQuestion({ type: 'score', instructions: 'q', levels: ['a', 'b'] })).toBe(
    '{"type":"score","instructions":"q","criteria":["a","b"]}',
  );
});
