import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { questionsFromJson } from '../questions.ts';
import { readOpenRows } from './open-rows.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-open-rows-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const TEAM = { type: 'choice', instructions: 'Which team?', criteria: { billing: null, technical: 'bugs' } };
const LATE = { type: 'noul', instructions: 'Late?' };
const MOOD = { type: 'score', instructions: 'Angry?', criteria: ['no', 'yes'] };
const SHARED = questionsFromJson(JSON.stringify({ team: TEAM, late: LATE, mood: MOOD }));

function read(name: string, content: string | Buffer, questions: typeof SHARED | 'own' = SHARED, textColumn?: string) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return readOpenRows(path, { questions: questions === 'own' ? undefined : questions, textColumn });
}

const targets = (rows: Awaited<ReturnType<typeof readOpenRows>>) =>
  rows.map(({ questions }) => questions.map(({ target }) => target));

describe('rows to be labelled', () => {
  it('are objects, of which some have answers', async () => {
    const rows = await read(
      'a.jsonl',
      [
        '{"state":"a","id":7}',
        '',
        '{"state":"b","gold":{"team":"technical","late":true,"mood":0}}',
        '{"state":"c","soft":{"team":{"billing":3,"technical":1}},"gold":{"late":null}}',
      ].join('\n'),
    );
    expect(rows.map(({ line, id, state }) => [line, id, state])).toEqual([
      [1, 7, 'a'],
      [3, undefined, 'b'],
      [4, undefined, 'c'],
    ]);
    expect(targets(rows)).toEqual([
      [undefined, undefined, undefined],
      [
        [0, 1],
        [0, 1],
        [1, 0],
      ],
      [[0.75, 0.25], undefined, undefined],
    ]);
  });

  it('may have questions of their own, named or not, answered or not', async () => {
    const rows = await read(
      'own.jsonl',
      [
        JSON.stringify({ state: 'a', questions: { team: { ...TEAM, gold: 'billing' }, late: LATE } }),
        JSON.stringify({ state: 'b', questions: [LATE, { ...MOOD, gold: 1 }] }),
        JSON.stringify({ state: 'c', questions: { late: LATE }, gold: { late: false } }),
      ].join('\n'),
      'own',
    );
    expect(rows.map(({ questions }) => questions.map(({ name }) => name))).toEqual([
      ['team', 'late'],
      ['1', '2'],
      ['late'],
    ]);
    expect(targets(rows)).toEqual([[[1, 0], undefined], [undefined, [0, 1]], [[1, 0]]]);
  });

  it('are records of a table, with a column for what is answered', async () => {
    const rows = await read('a.csv', 'id,text,team,late,mood\n1,"a, ""b""",billing,yes,\n2,c,,,1\n');
    expect(rows.map(({ id, state }) => [id, state])).toEqual([
      ['1', 'a, "b"'],
      ['2', 'c'],
    ]);
    expect(targets(rows)).toEqual([
      [[1, 0], [0, 1], undefined],
      [undefined, undefined, [0, 1]],
    ]);
    const [other] = await read('b.tsv', 'note\twhat\nx\ty\n', SHARED, 'what');
    expect(other?.state).toBe('y');
  });

  it('are lines of a text, packed or not', async () => {
    const rows = await read('a.txt.gz', gzipSync('one\r\n\n two\n'));
    expect(rows.map(({ line, state }) => [line, state])).toEqual([
      [1, 'one'],
      [3, ' two'],
    ]);
  });

  it.each([
    [
      'not JSON',
      'bad.jsonl',
      '{"state":"a"}\n{"state":\n[1]\n{"state":"b"}',
      'line 2: it is not a JSON object\nline 3: it is not a JSON object',
    ],
    ['no text', 'bad.jsonl', '{"state":1}', 'line 1: "state" must be a text'],
    [
      'an unknown option',
      'bad.jsonl',
      '{"state":"a","gold":{"team":"sales"}}',
      'line 1: question "team": "sales" is none of its options',
    ],
    [
      'no document column',
      'bad.csv',
      'a,b\n1,2\n',
      'line 2: which column is the document? Name it with --text-column. There are "a", "b"',
    ],
    ['a ragged table', 'bad.csv', 'state,team\nx\n', 'line 2: it has 1 values, and the heading has 2'],
    ['a broken quote', 'bad.csv', 'state\n"x\n', 'line 2: a quote (") is opened in this row and never closed'],
    [
      'a level that there is not',
      'bad.csv',
      'state,mood\nx,2\n',
      'line 2: question "mood": "2" is none of its options',
    ],
    ['nothing', 'bad.jsonl', '\n', 'There are no rows.'],
  ])('that have faults are told by their lines: %s', async (_, name, content, message) => {
    await expect(read(name, content)).rejects.toThrow(message);
  });

  it('need questions, which a model could be asked', async () => {
    await expect(read('a.jsonl', '{"state":"a"}', 'own')).rejects.toThrow("line 1: it has no 'questions'");
    const many = Object.fromEntries(Array.from({ length: 256 }, (_, place) => [`o${place}`, null]));
    const tooMany = questionsFromJson(JSON.stringify({ team: { ...TEAM, criteria: many } }));
    await expect(read('a.jsonl', '{"state":"a"}', tooMany)).rejects.toThrow(
      'The questions: question "team": a choice has 255 options at most.',
    );
    const flat = questionsFromJson(JSON.stringify({ mood: { ...MOOD, criteria: ['one'] } }));
    await expect(read('a.jsonl', '{"state":"a"}', flat)).rejects.toThrow('a score has 2 to 10 levels');
    await expect(read('a.jsonl', '{"state":"a"}', questionsFromJson('{}'))).rejects.toThrow(
      'The questions: there are none.',
    );
  });
});
