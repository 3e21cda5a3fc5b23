import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseLabelledRows } from '../../quality/labelled-row.ts';
import { AnswerFile, AnswerFileError, type GivenAnswer } from './answer-file.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-answers-'));
  path = join(folder, 'rows.labelled.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const TEAM = {
  type: 'choice',
  instructions: 'Which team?',
  options: [
    { name: '10', description: null },
    { name: 'billing', description: 'payments "and" refunds' },
  ],
} as const;
const LATE = { type: 'noul', instructions: 'Late?', whenFalse: null, whenTrue: 'the parcel is late' } as const;
const MOOD = { type: 'score', instructions: 'Angry?', levels: ['no', 'a little', 'very'] } as const;

function answer(given: Partial<GivenAnswer> = {}): GivenAnswer {
  return { id: undefined, state: 'I was charged\ntwice. 你好', name: 'team', question: TEAM, target: [0, 1], ...given };
}

const read = (): string => readFileSync(path, 'utf8');

describe('answers', () => {
  it.each([
    ['a choice', answer()],
    ['a noul', answer({ name: 'late', question: LATE, target: [0, 1] })],
    ['a noul that is false', answer({ name: 'late', question: LATE, target: [1, 0] })],
    ['a score', answer({ name: 'mood', question: MOOD, target: [0, 0, 1] })],
    ['people who disagree on a score', answer({ name: 'mood', question: MOOD, target: [0.25, 0, 0.75] })],
    ['people who disagree on a choice', answer({ target: [0.25, 0.75] })],
    ['a name that is no name', answer({ name: '__proto__' })],
  ])('are rows of a labelled file: %s', (_, given) => {
    const { file } = AnswerFile.open(path);
    file.append([given]);
    file.close();
    const [row, ...others] = parseLabelledRows(read());
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      state: given.state,
      questions: [{ task: given.name, question: given.question, target: given.target }],
    });
  });

  it('keep the id of their row', () => {
    const { file } = AnswerFile.open(path);
    file.append([answer({ id: 'T-1' }), answer({ id: 2 })]);
    file.close();
    expect(
      read()
        .split('\n')
        .slice(0, 2)
        .map((line) => JSON.parse(line).id),
    ).toEqual(['T-1', 2]);
  });

  it('are taken back from the end, those of an earlier run too', () => {
    const first = AnswerFile.open(path).file;
    first.append([answer({ state: 'a 你' }), answer({ state: 'b' })]);
    first.close();
    const { file, rows } = AnswerFile.open(path);
    expect(rows.map(({ state }) => state)).toEqual(['a 你', 'b']);
    file.append([answer({ state: 'c' })]);
    file.removeLast();
    file.removeLast();
    file.append([answer({ state: 'd' })]);
    expect(parseLabelledRows(read()).map(({ state }) => state)).toEqual(['a 你', 'd']);
    file.removeLast();
    file.removeLast();
    expect(read()).toBe('');
    expect(() => file.removeLast()).toThrow('has no line to take back');
    file.close();
  });
});

describe('a file that is there', () => {
  it.each([['{"state":"half'], ['{"state":"half a character \u00e4'.slice(0, -1)]])(
    'loses a line that was cut off: %s',
    (half) => {
      const first = AnswerFile.open(path).file;
      first.append([answer()]);
      first.close();
      const before = read();
      appendFileSync(path, half);
      const { file, rows, repairedBytes } = AnswerFile.open(path);
      expect([rows.length, repairedBytes, read()]).toEqual([1, Buffer.byteLength(half), before]);
      file.close();
    },
  );

  it('loses half a character', () => {
    writeFileSync(path, Buffer.from([0x7b, 0xe4, 0xbd]));
    const { file, repairedBytes } = AnswerFile.open(path);
    expect([repairedBytes, read()]).toEqual([3, '']);
    file.close();
  });

  it('gets the end of its last line, which is a whole one', () => {
    const first = AnswerFile.open(path).file;
    first.append([answer()]);
    first.close();
    writeFileSync(path, read().trimEnd());
    const { file, rows } = AnswerFile.open(path);
    file.append([answer({ state: 'second' })]);
    expect([rows.length, parseLabelledRows(read()).length]).toEqual([1, 2]);
    file.removeLast();
    expect(parseLabelledRows(read())).toHaveLength(1);
    file.close();
  });

  it('is not touched when it is something else', () => {
    writeFileSync(path, 'dear diary\n{"half":');
    expect(() => AnswerFile.open(path)).toThrow(/is not a file of labelled rows:\nline 1: it is not valid JSON/);
    expect(read()).toBe('dear diary\n{"half":');
  });

  it('is not written when somebody has changed it meanwhile', () => {
    const { file } = AnswerFile.open(path);
    file.append([answer()]);
    appendFileSync(path, '\n');
    expect(() => file.append([answer()])).toThrow(AnswerFileError);
    expect(() => file.removeLast()).toThrow('was changed by somebody else');
    file.close();
  });

  it('is not written when another stands in its place', () => {
    const { file } = AnswerFile.open(path);
    renameSync(path, `${path}.old`);
    expect(() => file.append([answer()])).toThrow('was changed by somebody else');
    file.close();
  });

  it('that cannot be made is told', () => {
    expect(() => AnswerFile.open(join(folder, 'nowhere', 'out.jsonl'))).toThrow(AnswerFileError);
  });
});
