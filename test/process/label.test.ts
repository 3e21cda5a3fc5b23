// `umpire label` before a real terminal: keys as they are typed, sizes, signals, and answers that outlive any end.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../waiting/until.ts';
import { tinyDecision } from '../workers/tiny-engine.ts';
import { runUmpire } from './run-umpire.ts';
import { type Environment, GRAPH_CACHE, LAUNCHER, ServerProcess } from './server-process.ts';
import { CTRL_C, hasTerminals, inTerminal } from './terminal.ts';

const ROWS = 12;
const TERMINAL = { TERM: 'xterm-256color', UMPIRE_ENGINE_WORKERS: '1' };
const LABEL = ['label', 'rows.jsonl', '--questions', 'questions.json', '--out', 'out.jsonl', '--model', tinyDecision];
const QUESTIONS = {
  team: { type: 'choice', instructions: 'which?', criteria: { refund: null, order: 'it is late', 其他: null } },
};

let folder: string;
let started: Labeller | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-label-'));
  const states = Array.from({ length: ROWS }, (_, row) => ({
    state: `the order ${'late '.repeat(row)}of 客户 ${row}`,
  }));
  writeFileSync(join(folder, 'rows.jsonl'), states.map((row) => `${JSON.stringify(row)}\n`).join(''));
  writeFileSync(join(folder, 'questions.json'), JSON.stringify(QUESTIONS));
});
afterEach(async () => {
  await started?.disposeGroup();
  rmSync(folder, { recursive: true });
});

/** Somebody before a terminal, in which the command was typed. */
class Labeller extends ServerProcess {
  /** What is seen now: the last picture that was drawn to its end. It may come in pieces. */
  get picture(): string {
    const pictures = this.output.split('\u001b[H').filter((drawn) => drawn.includes('\u001b[J'));
    const last = pictures.at(-1) ?? '';
    return stripVTControlCharacters(last).replaceAll('\r', '');
  }

  async sees(pattern: RegExp): Promise<string> {
    let hasEnded = false;
    void this.exited.then(() => {
      hasEnded = true;
    });
    await until(`the picture shows ${pattern}`, () => pattern.test(this.picture) || hasEnded);
    expect(this.picture).toMatch(pattern);
    return this.picture;
  }

  async press(keys: string, pattern: RegExp): Promise<string> {
    this.type(keys);
    return await this.sees(pattern);
  }

  /** Path of its terminal. */
  async terminal(): Promise<string> {
    return (await this.waitFor(/^(\/dev\/\S+)/m))[1] ?? '';
  }

  /** Whether the command itself is still there, whatever became of its terminal. */
  get isRunning(): boolean {
    const [, id = ''] = /process (\d+)\./.exec(this.output) ?? [];
    return existsSync(`/proc/${id}/stat`) && !/\) Z /.test(readFileSync(`/proc/${id}/stat`, 'utf8'));
  }

  async resize(columns: number, rows: number): Promise<void> {
    spawnSync('stty', ['-F', await this.terminal(), 'cols', String(columns), 'rows', String(rows)]);
  }
}

function start(settings: Environment = {}, { columns = 80, rows = 24 } = {}): Labeller {
  const words = [process.execPath, LAUNCHER, ...LABEL].map((word) => `'${word}'`).join(' ');
  writeFileSync(join(folder, 'label.sh'), `tty\necho process $$.\nstty cols ${columns} rows ${rows}\nexec ${words}\n`);
  started = new Labeller({ ...TERMINAL, ...settings }, inTerminal('sh label.sh'), { cwd: folder, ownGroup: true });
  return started;
}

const answers = () => {
  const path = join(folder, 'out.jsonl');
  return existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line).questions.team.gold)
    : [];
};

const ready = /^0 answered, 12 to go/;

describe.runIf(hasTerminals())('before a terminal', () => {
  it('every answer is on disk at once, and what comes out is a labelled file', async () => {
    const person = start();
    await person.sees(ready);
    await person.press('1', /^1 answered, 11 to go[\s\S]*Answered 1/);
    expect(answers()).toEqual(['refund']);
    await person.press('3', /^2 answered/);
    await person.press('s', /Skipped/);
    await person.press('u', /Taken back/);
    await person.press('u', /^1 answered, 11 to go/);
    expect(answers()).toEqual(['refund']);
    person.type('22');
    await person.sees(/^3 answered, 9 to go/);
    person.type('q');
    expect(await person.exited).toEqual({ code: 0, signal: null });
    expect(person.output).toContain('3 answers in out.jsonl, 3 of them new; 9 to go.');
    expect(answers()).toEqual(['refund', 'order', 'order']);
    const measured = await runUmpire(['eval', 'out.jsonl', '--model', tinyDecision], { cwd: folder });
    expect([measured.error, measured.out]).toEqual(['', expect.stringMatching(/^3 rows, 3 questions/)]);
  });

  it('gives the terminal back as it was, and asks the same again in a second run', async () => {
    const person = start();
    const first = await person.sees(ready);
    person.type(CTRL_C);
    expect((await person.exited).code).toBe(130);
    const [, after = ''] = person.output.split('\u001b[?2004l\u001b[?25h\u001b[?1049l');
    expect(after).toContain('The same command goes on.');
    await person.disposeGroup();
    const second = start();
    expect(await second.sees(ready)).toBe(first);
    second.type('q');
    await second.exited;
  });

  it('has all answers after a kill, and goes on', async () => {
    const person = start();
    await person.sees(ready);
    await person.press('1', /^1 answered/);
    await person.press('2', /^2 answered/);
    person.killGroup('SIGKILL');
    await person.exited;
    expect(answers()).toEqual(['refund', 'order']);
    // Half a line, as a machine that lost its power may leave it.
    writeFileSync(join(folder, 'out.jsonl'), '{"state":"hal', { flag: 'a' });
    const second = start();
    await second.sees(/^2 answered, 10 to go/);
    expect(second.output).toContain('half an answer at the end of out.jsonl was removed');
    await second.press('u', /^1 answered, 11 to go/);
    await second.press('3', /^2 answered, 10 to go/);
    expect(answers()).toEqual(['refund', '其他']);
    second.type('q');
    await second.exited;
  });

  it('ends when its terminal is closed, and lets go of the file', async () => {
    const person = start();
    await person.sees(ready);
    await person.press('1', /^1 answered/);
    person.kill('SIGKILL');
    await until('the command has ended', () => !person.isRunning);
    const second = start();
    await second.sees(/^1 answered, 11 to go/);
    second.type('q');
    expect((await second.exited).code).toBe(0);
  });

  it('is drawn for a window of another size at once, narrow and small ones too', async () => {
    const person = start({}, { columns: 40, rows: 14 });
    await person.sees(ready);
    const widest = (): number => Math.max(...person.picture.split('\n').map(({ length }) => length));
    expect(widest()).toBeLessThan(40);
    await person.resize(20, 5);
    await person.sees(/^Too small/);
    person.type('1');
    await person.resize(100, 30);
    await person.sees(ready);
    expect(widest()).toBe(99);
    expect(answers()).toEqual([]);
    person.type('q');
    await person.exited;
  });

  it('takes what is pasted for no answer', async () => {
    const person = start();
    await person.sees(ready);
    person.type('\u001b[200~1123 q\u001b[201~');
    await person.press('1', /^1 answered, 11 to go/);
    expect(answers()).toEqual(['refund']);
    person.type('q');
    await person.exited;
  });

  it('is clear without colours, and on a terminal that can only write on', async () => {
    const plain = start({ NO_COLOR: '1' });
    await plain.sees(ready);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what colours are made of
    expect(plain.output).not.toMatch(/\u001b\[[\d;]*m/);
    plain.type('q');
    await plain.exited;
    await plain.disposeGroup();
    const dumb = start({ TERM: 'dumb', NO_COLOR: '1' });
    await dumb.waitFor(/0 answered, 12 to go[\s\S]*s.skip/);
    dumb.type('2');
    await dumb.waitFor(/Answered 2/);
    expect(answers()).toEqual(['order']);
    dumb.type('q');
    await dumb.exited;
    expect(dumb.output.replace('\u001b[?2004h', '').replace('\u001b[?2004l', '')).not.toContain('\u001b');
  });

  it('says that somebody else is at it', async () => {
    const person = start();
    await person.sees(ready);
    const other = new Labeller(TERMINAL, inTerminal('sh label.sh'), { cwd: folder });
    try {
      await other.waitFor(/umpire: Somebody else is asked about these rows now\./);
      expect((await other.exited).code).toBe(1);
    } finally {
      await other.dispose();
    }
    await person.press('1', /^1 answered/);
    person.type('q');
    await person.exited;
  });
});

describe('without a terminal', () => {
  it('it asks nobody, and writes nothing', async () => {
    const env = { UMPIRE_ENGINE_CACHE_DIR: GRAPH_CACHE };
    const { code, error, out } = await runUmpire(LABEL, { cwd: folder, env, input: '1\n2\n' });
    expect([code, out]).toEqual([2, '']);
    expect(error).toContain('It asks a person: standard input and output must be a terminal.');
    expect(existsSync(join(folder, 'out.jsonl'))).toBe(false);
    expect(existsSync(join(folder, 'out.jsonl.run'))).toBe(false);
  });
});
