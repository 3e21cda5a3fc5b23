// A sitting as whoever labels sees it: keys in, a picture out, over a real file and a real memory.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Question } from '../../domain/question.ts';
import { parseLabelledRows } from '../../quality/labelled-row.ts';
import { AnswerFile } from './answer-file.ts';
import { LabelMemory } from './label-memory.ts';
import { Labelling, type ReadRow } from './labelling.ts';
import { Sitting } from './sitting.ts';
import { cellsOf } from './text-width.ts';

const TEAM: Question = {
  type: 'choice',
  instructions: 'Which team should have it?',
  options: [
    { name: 'billing', description: 'payments and refunds' },
    { name: 'technical', description: null },
    { name: '其他', description: '不知道' },
  ],
};
const LATE: Question = { type: 'noul', instructions: 'Is it late?', whenFalse: null, whenTrue: 'the parcel is late' };
const MOOD: Question = { type: 'score', instructions: 'How angry?', levels: ['calm', 'cross', 'furious'] };
const MANY: Question = {
  type: 'choice',
  instructions: 'What is it?',
  options: Array.from({ length: 40 }, (_, place) => ({ name: `topic ${place + 1}`, description: null })),
};
const SIZE = { columns: 80, rows: 24 };

let folder: string;
let path: string;
let file: AnswerFile;
let memory: LabelMemory;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-sitting-'));
  path = join(folder, 'out.jsonl');
});
afterEach(() => {
  file.close();
  memory.close();
  rmSync(folder, { recursive: true });
});

/** @param question the same of all rows, of which the first is the least certain */
function rowsOf(states: readonly string[], ...questions: readonly Question[]): ReadRow[] {
  return states.map((state, place) => ({
    row: {
      line: place + 1,
      id: `r${place}`,
      state,
      questions: questions.map((question, at) => ({ name: `q${at}`, question, target: undefined })),
    },
    reading: { probabilities: questions.map((question) => likely(question, place)), vector: undefined },
  }));
}

/** The second option, the more so the later the row. */
function likely(question: Question, place: number): number[] {
  const count = question.type === 'choice' ? question.options.length : question.type === 'score' ? 3 : 2;
  const top = 0.5 + place / 100;
  return Array.from({ length: count }, (_, option) => (option === 1 ? top : (1 - top) / (count - 1)));
}

function sit(rows: readonly ReadRow[]) {
  const opened = AnswerFile.open(path);
  file = opened.file;
  memory = LabelMemory.open(`${path}.run`, 'sha256:model');
  const labelling = new Labelling({ rows, file, memory, written: opened.rows });
  const sitting = new Sitting({ labelling, title: 'rows.jsonl · kev', paint: (_, text) => text });
  const draw = (size = SIZE): string => sitting.draw(size).join('\n');
  draw();
  const press = (...keys: readonly string[]) => {
    for (const key of keys) {
      const end = sitting.press(key);
      if (end !== undefined) return end;
      draw();
    }
    return draw();
  };
  return { labelling, press, draw };
}

function reopen(): void {
  file.close();
  memory.close();
}

const answers = () =>
  readFileSync(path, 'utf8') === ''
    ? []
    : parseLabelledRows(readFileSync(path, 'utf8')).map(({ state, questions: [only] }) => [
        state,
        only?.names[only.target.indexOf(1)],
      ]);

describe('a picture', () => {
  it('shows document, question, options with keys, what the model thinks and how many are done', () => {
    const { draw } = sit(rowsOf(['I was charged twice.', 'b'], TEAM));
    expect(draw().replaceAll(/ +/g, ' ')).toMatchInlineSnapshot(`
      "0 answered, 2 to go · rows.jsonl · kev
      ───────────────────────────────────────────────────────────────────────────────
      I was charged twice.














      ───────────────────────────────────────────────────────────────────────────────
      q0: Which team should have it?
       1 billing – payments and refunds ███ 25 % 
      › 2 technical ██████ 50 % 
       3 其他 – 不知道 ███ 25 % 

      s skip u undo q quit"
    `);
  });

  it.each([
    [80, 24],
    [40, 12],
    [24, 9],
    [200, 60],
    [40, 60],
    [200, 9],
  ])('fits into %i × %i, with wide characters, long texts and many options', (columns, rows) => {
    const state = `${'你好世界 '.repeat(200)}\n${'word '.repeat(300)}👩‍👩‍👧`;
    for (const question of [TEAM, LATE, MOOD, MANY, { ...MANY, instructions: '什么 '.repeat(90) }]) {
      const { draw, press } = sit(rowsOf([state], question));
      for (const keys of [[], ['space', 'tab'], ['end'], ['/', 'o']]) {
        press(...keys);
        const lines = draw({ columns, rows }).split('\n');
        expect(lines).toHaveLength(rows);
        expect(Math.max(...lines.map(cellsOf))).toBeLessThan(columns);
        expect(lines[0]).toMatch(/^0 answered, 1 to go/);
      }
      reopen();
    }
    sit([]);
  });

  it('says where a window is too small, and then takes no answer', () => {
    const { draw, labelling } = sit(rowsOf(['a'], TEAM));
    const sitting = new Sitting({ labelling, title: '', paint: (_, text) => text });
    for (const size of [
      { columns: 23, rows: 24 },
      { columns: 80, rows: 8 },
      { columns: 1, rows: 1 },
    ]) {
      const lines = sitting.draw(size);
      expect(lines.length).toBeLessThanOrEqual(size.rows);
      expect(sitting.press('1')).toBeUndefined();
      expect(answers()).toEqual([]);
    }
    expect(sitting.press('q')).toBe('left');
    expect(draw()).toContain('Which team');
  });

  it('shows harmlessly what would steer the terminal or turn a text round', () => {
    const hostile = { ...TEAM, instructions: '\u001b[2Jx\u202e?' };
    const { draw } = sit(rowsOf(['\u001b]0;title\u0007 \u202eevil\u202c\r\n\u009b1m'], hostile));
    expect(draw().replaceAll('\n', '')).toMatch(/^\P{Cc}*$/u);
    expect(draw()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(draw()).toContain('␛]0;title␇ <U+202E>evil<U+202C>');
  });

  it('shows the rest of a long document by its keys', () => {
    const state = Array.from({ length: 100 }, (_, line) => `line ${line + 1} of it`).join('\n');
    const { draw, press } = sit(rowsOf([state], LATE));
    expect(draw()).toMatch(/lines 1–16 of 100 ─/);
    expect(draw()).toContain('space\u00a0more');
    expect(press('space')).toMatch(/\nline 16 of it\n[\s\S]*lines 16–31 of 100/);
    expect(press('down')).toMatch(/lines 17–32 of 100/);
    expect(press('end')).toContain('line 100 of it');
    expect(press('space')).toMatch(/lines 1–16 of 100/);
    expect(press('pageup', 'up', 'home')).toMatch(/lines 1–16 of 100/);
  });

  it('says that a document is empty', () => {
    expect(sit(rowsOf([' \n '], TEAM)).draw()).toContain('(an empty document)');
  });
});

describe('a key', () => {
  it('answers, and the next document is shown', () => {
    const { press } = sit(rowsOf(['a', 'b'], TEAM));
    expect(press('3')).toContain('Answered 3. u takes it back.');
    expect(answers()).toEqual([['a', '其他']]);
    expect(press('1')).toBe('over');
    expect(answers()).toEqual([
      ['a', '其他'],
      ['b', 'billing'],
    ]);
  });

  it('answers the questions of one document one after the other', () => {
    const { press, draw } = sit(rowsOf(['a', 'b'], LATE, MOOD));
    expect(draw()).toContain('q0 (1 of 2): Is it late?');
    expect(press('y')).toContain('q1 (2 of 2): How angry?');
    expect(press('2')).toContain('q0 (1 of 2)');
    press('N');
    expect(answers()).toEqual([
      ['a', 'true'],
      ['a', '2'],
      ['b', 'false'],
    ]);
  });

  it('that means nothing changes nothing', () => {
    const { press } = sit(rowsOf(['a'], TEAM));
    expect(press('4')).toContain('No answer has the key 4.');
    expect(press('escape', 'backspace', 'ctrl+x', 'enter', 'é')).toContain('No answer has the key é.');
    expect(answers()).toEqual([]);
  });

  it('is the first of two where there are many options, the likeliest shown first', () => {
    const { press, draw } = sit(rowsOf(['a', 'b'], MANY));
    expect(draw()).toMatch(/› 02 topic 2 .*\n {2}01 topic 1 /);
    expect(draw()).toMatch(/Options 1–1\d of 40\n/);
    expect(press('tab')).toMatch(/Options 1\d–\d+ of 40/);
    expect(press('3')).toContain('Key: 3_');
    expect(press('backspace')).not.toContain('Key:');
    expect(press('4', '9')).toContain('No answer has the key 49.');
    press('3', '7');
    expect(answers()).toEqual([['a', 'topic 37']]);
  });

  it('finds an option by its text', () => {
    const { press, draw } = sit(rowsOf(['a', 'b'], MANY));
    expect(press('/', 'T', 'o', 'p', 'i', 'c', 'space', '1')).toContain('Options with: Topic 1_');
    expect(press('enter')).not.toContain('topic 2 ');
    expect(press('escape')).toContain('topic 2 ');
    expect(press('/', 'z', 'enter')).toContain('No option has "z" in it.');
    // Within a search all keys are letters.
    expect(press('/', 'q', 'u', 's')).toContain('Options with: qus_');
    press('backspace', 'backspace', 'backspace', '2', '9', 'enter');
    expect(answers()).toEqual([['a', 'topic 29']]);
    expect(draw()).toContain('topic 2 ');
  });

  it('leaves', () => {
    expect(sit(rowsOf(['a'], TEAM)).press('q')).toBe('left');
  });
});

describe('what was done', () => {
  it('is taken back, one after the other, answers and skips', () => {
    const { press, labelling } = sit(rowsOf(['a', 'b', 'c', 'd'], TEAM));
    press('1', 's', '2');
    expect([labelling.answers, labelling.openItems, labelling.passedItems]).toEqual([2, 1, 1]);
    expect(press('u')).toContain('Taken back.');
    expect(press('u')).toMatch(/^1 answered, 3 to go[\s\S]*\nb\n/);
    press('u');
    expect(answers()).toEqual([]);
    expect(press('u')).toContain('There is nothing to take back.');
    expect([labelling.answersNow, labelling.openItems]).toEqual([0, 4]);
  });

  it('goes on where it stopped: answers, skips, and what can be taken back', () => {
    const rows = rowsOf(['a', 'b', 'c', 'd'], TEAM);
    sit(rows).press('1', 's', '2');
    reopen();
    const { press, draw, labelling } = sit(rows);
    expect(draw()).toMatch(/^2 answered, 1 to go[\s\S]*\nd\n/);
    expect(labelling.answersNow).toBe(0);
    press('u');
    expect(answers()).toEqual([['a', 'billing']]);
    expect(press('3', '3')).toBe('over');
    expect(answers()).toEqual([
      ['a', 'billing'],
      ['c', '其他'],
      ['d', '其他'],
    ]);
  });

  it('asks again what was skipped when all else is answered', () => {
    const rows = rowsOf(['a', 'b'], TEAM);
    expect(sit(rows).press('s', '1')).toBe('over');
    reopen();
    const { draw, press } = sit(rows);
    expect(draw()).toMatch(/^1 answered, 1 to go[\s\S]*\na\n/);
    expect(press('1')).toBe('over');
  });

  it('counts by option', () => {
    const { press } = sit(rowsOf(['a', 'b', 'c', 'd'], TEAM));
    press('1', '1');
    expect(press('2')).toMatch(/billing .*×2 *\n.*technical .*×1 *\n/);
    expect(press('u')).not.toContain('×1');
  });

  it('is not lost in words where the file cannot be written', () => {
    const { press, labelling } = sit(rowsOf(['a', 'b'], TEAM));
    press('1');
    writeFileSync(path, 'somebody else was here\n');
    expect(press('1')).toMatch(/^1 answered, 1 to go[\s\S]*was changed by somebody else/);
    expect(labelling.current?.state).toBe('b');
    expect(readFileSync(path, 'utf8')).toBe('somebody else was here\n');
  });

  it('may be written by others, whose lines are not taken back', () => {
    const rows = rowsOf(['a'], TEAM);
    sit([]);
    file.append([{ id: 1, state: 'elsewhere', name: 'q', question: TEAM, target: [1, 0, 0] }]);
    reopen();
    expect(sit(rows).press('u')).toContain('There is nothing to take back.');
    expect(answers()).toHaveLength(1);
  });
});
