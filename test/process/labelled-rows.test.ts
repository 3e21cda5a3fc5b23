// `umpire eval` and `umpire calibrate` as typed, on a small model with random weights: files of rows, figures, a model
// folder that changes and still passes its golden answers.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tinyDecision } from '../workers/tiny-engine.ts';
import { runUmpire } from './run-umpire.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-rows-'));
const model = join(folder, 'model');

function umpire(...args: readonly string[]) {
  return runUmpire(args, { cwd: folder });
}

function writeRows(name: string, rows: readonly unknown[]): void {
  writeFileSync(join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

const criteria = { refund: null, order: 'it is late', '10': null };
const TEAM = { type: 'choice', instructions: 'which?', criteria };
const LATE = { type: 'noul', instructions: 'late?', criteria: { true: 'the parcel is late' } };
const MOOD = { type: 'score', instructions: 'angry?', criteria: ['no', 'a day', 'to the end'] };
const QUESTIONS = { team: TEAM, late: LATE, mood: MOOD };
const rows = Array.from({ length: 60 }, (_, i) => ({
  state: `the order ${i} of the customer is ${i % 2 === 0 ? 'late' : 'open'}`,
  gold: { team: Object.keys(criteria)[i % 3], late: i % 2 === 0, mood: i % 3 },
}));

beforeAll(() => {
  cpSync(tinyDecision, model, { recursive: true });
  writeRows('shared.jsonl', rows);
  writeFileSync(join(folder, 'questions.json'), JSON.stringify(QUESTIONS));
  const own = ({ state, gold }: (typeof rows)[number]) => ({
    state,
    questions: {
      team: { ...TEAM, gold: gold.team },
      late: { ...LATE, gold: gold.late },
      mood: { ...MOOD, gold: gold.mood },
    },
  });
  writeRows('own.jsonl', rows.map(own));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('umpire eval', () => {
  it('prints figures by question, by length and by options', async () => {
    const { code, out, error } = await umpire('eval', 'own.jsonl', '--model', model, '--limit', '20');
    expect(error).toBe('');
    expect(code).toBe(0);
    expect(out).toMatch(/^20 rows, 60 questions, tiny-decision \(sha256:[0-9a-f]{64}\)$/m);
    for (const name of ['team', 'late', 'mood']) expect(out).toMatch(new RegExp(`^${name} +20 +[01]\\.\\d{3} `, 'm'));
    expect(out).toMatch(/^all +60 /m);
    expect(out).toMatch(/^3–5 +40 +[01]\.\d{3}$/m);
    expect(out).toContain('Options in another order, 20 questions: a probability changes by 0 at most.');
  });

  it('gives the same for rows that share their questions, as JSON', async () => {
    const shared = ['shared.jsonl', '--questions', 'questions.json'];
    const [own, other] = [
      await umpire('eval', 'own.jsonl', '--model', model, '--json'),
      await umpire('eval', ...shared, '--model', model, '--json'),
    ];
    expect(JSON.parse(own.out)).toEqual(JSON.parse(other.out));
    const { all, questions, reliability, order_instability: order } = JSON.parse(own.out);
    expect(all).toMatchObject({ answers: 180, accuracy: expect.any(Number), macro_f1: expect.any(Number) });
    expect(questions.map(({ name }: { name: string }) => name)).toEqual(['team', 'late', 'mood']);
    expect(reliability).toHaveLength(15);
    expect(order).toEqual({ questions: 50, largest_shift: 0 });
  });

  it('gives the same for a table, a column of answers for each question', async () => {
    const cells = rows.map(({ state, gold }) => `"${state}",${gold.team},${gold.late ? 'TRUE' : 'no'},${gold.mood}\n`);
    writeFileSync(join(folder, 'table.csv'), ['\ufefftext,team,late,mood\n', ...cells].join(''));
    const dots = cells.map((line) => line.replaceAll(',', ';'));
    writeFileSync(join(folder, 'dots.csv'), ['message;team;late;mood\n', ...dots].join(''));
    writeFileSync(join(folder, 'questions.yaml'), JSON.stringify(QUESTIONS));
    const ask = (...args: readonly string[]) => umpire('eval', ...args, '--model', model, '--json');
    const [lines, table, dotted] = [
      await ask('shared.jsonl', '--questions', 'questions.json'),
      await ask('table.csv', '--questions', 'questions.yaml'),
      await ask('dots.csv', '--questions', 'questions.json', '--text-column', 'message', '--delimiter', ';'),
    ];
    expect([table.error, dotted.error]).toEqual(['', '']);
    expect(JSON.parse(table.out)).toEqual(JSON.parse(lines.out));
    expect(JSON.parse(dotted.out)).toEqual(JSON.parse(lines.out));
  });

  it('tells what is wrong with a table by its lines', async () => {
    writeFileSync(join(folder, 'bad.csv'), 'text,team,late\na,refund,true\n"b\nc",cash,\nd,order,perhaps\ne,order\n');
    const questions = ['--questions', 'questions.json', '--model', model];
    expect((await umpire('eval', 'bad.csv', ...questions)).error).toBe(
      [
        'umpire: The rows have faults:',
        'line 3: question "team": "cash" is none of its options',
        'line 5: question "late": a noul is true or false',
        'line 6: it has 2 values, and the heading has 3\n',
      ].join('\n'),
    );
    const bare = await umpire('eval', 'bad.csv', '--model', model);
    expect(bare.error).toContain('name a file of them with --questions');
    writeFileSync(join(folder, 'other.csv'), 'text,label\na,refund\n');
    const other = await umpire('eval', 'other.csv', ...questions);
    expect(other.error).toContain('no column is named as a question of --questions. There are "text", "label".');
    expect([bare.code, other.code]).toEqual([2, 2]);
  });

  it('tells a line that is no text', async () => {
    writeFileSync(join(folder, 'bytes.jsonl'), Buffer.from('{"state": "gr\xfc\xdfe"}\n', 'latin1'));
    const { code, error } = await umpire('eval', 'bytes.jsonl', '--model', model);
    expect([code, error]).toEqual([1, 'umpire: The rows have faults:\nline 1: it is not valid UTF-8\n']);
  });

  it('waits for every row, whatever a server would let wait', async () => {
    const env = {
      UMPIRE_ENGINE_WORKERS: '1',
      UMPIRE_ENGINE_QUEUE_MAX_COST_MS: '1',
      UMPIRE_ENGINE_QUEUE_DEADLINE_MS: '1',
    };
    // Long ones, so that one is read while the next one waits.
    writeRows(
      'slow.jsonl',
      rows.slice(0, 6).map((row) => ({ ...row, state: `${row.state} `.repeat(700) })),
    );
    const args = ['eval', 'slow.jsonl', '--questions', 'questions.json', '--model', model];
    const { code, out, error } = await runUmpire(args, { cwd: folder, env });
    expect(error).toBe('');
    expect(code).toBe(0);
    expect(out).toMatch(/^6 rows, 18 questions/);
  });

  it('reads a collection of tasks, packed', async () => {
    mkdirSync(join(folder, 'data', 'heldout'), { recursive: true });
    const task = { task: 'teams', type: 'choice', labels: criteria, instructions: ['which?', 'which team?'] };
    writeFileSync(join(folder, 'data', 'tasks.json'), JSON.stringify([task]));
    const lines = rows.map(({ state, gold }) => JSON.stringify({ state, label: gold.team })).join('\n');
    writeFileSync(join(folder, 'data', 'heldout', 'teams.jsonl.gz'), gzipSync(lines));
    const { code, out } = await umpire('eval', 'data/heldout/teams.jsonl.gz', '--model', model, '--limit', '6');
    expect(code).toBe(0);
    expect(out).toMatch(/^teams +6 /m);
  });

  it('tells bad rows by their lines, before any model is loaded', async () => {
    writeRows('bad.jsonl', [
      { state: '', questions: { a: { ...TEAM, gold: 'refund' } } },
      { state: 1 },
      { state: '', questions: { a: TEAM } },
    ]);
    expect(await umpire('eval', 'bad.jsonl', '--model', model)).toEqual({
      code: 1,
      out: '',
      error:
        "umpire: The rows have faults:\nline 2: the field 'state' must be a string\nline 3: question \"a\": it has no right answer: 'gold' or 'soft'\n",
    });
  });

  it('tells rows that the model refuses, and measures the others', async () => {
    const [first, ...others] = rows.slice(0, 3);
    writeRows('long.jsonl', [{ ...first, state: 'late '.repeat(8193) }, ...others]);
    const { code, out, error } = await umpire('eval', 'long.jsonl', '--questions', 'questions.json', '--model', model);
    expect(code).toBe(3);
    expect(error).toMatch(/^line 1 was not answered: The state has 8193 tokens.*\(context_length_exceeded\)\n$/);
    expect(out).toMatch(/^2 rows, 6 questions/);
  });

  it('says when there is no such model', async () => {
    const { code, error } = await umpire('eval', 'own.jsonl', '--model', 'nobody');
    expect(code).toBe(1);
    expect(error).toBe('umpire: There is no decision model "nobody". Configured: kev; or name a model folder.\n');
  });
});

describe('umpire calibrate', () => {
  const read = (name: string, at = model) => readFileSync(join(at, name), 'utf8');

  it('shows what it would do, and writes a manifest elsewhere', async () => {
    const dry = await umpire('calibrate', 'own.jsonl', '--model', model, '--dry-run');
    expect(dry.error).toBe('');
    expect(dry.code).toBe(0);
    expect(dry.out).toMatch(/^choice +3-5 +60 +/m);
    // Random weights know nothing of the score, so the flattest temperature is best.
    expect(dry.out).toMatch(/^score +3-5 +60 +1 → 4\.9999 +\d\.\d{3} → \d\.\d{3} /m);
    expect(dry.out).toContain('Nothing was written');
    const out = await umpire('calibrate', 'own.jsonl', '--model', model, '--out', 'manifest.json');
    expect(out.code).toBe(0);
    expect(read('model.json')).toBe(read('model.json', tinyDecision));
    expect(JSON.parse(read('manifest.json', folder)).temperatures.score['3-5']).toBe(4.9999);
  });

  it('keeps the temperatures of groups with few answers', async () => {
    const { code, out } = await umpire('calibrate', 'own.jsonl', '--model', model, '--limit', '30');
    expect(code).toBe(1);
    expect(out).toMatch(/^noul +2 +30 +1 +.*kept: fewer than 50 answers$/m);
    expect(out).toContain('Nothing to write');
    expect(read('model.json')).toBe(read('model.json', tinyDecision));
  });

  it('writes them into the folder, which then still passes its golden answers', async () => {
    const { code, out } = await umpire('calibrate', 'own.jsonl', '--model', model);
    expect(code).toBe(0);
    const digest = /^Written: .*(sha256:[0-9a-f]{64})/m.exec(out)?.[1];
    const verified = await umpire('models', 'verify', model);
    expect(verified.error).toBe('');
    expect(verified.out).toContain(`ok  tiny-decision  ${digest}`);
    const again = await umpire('calibrate', 'own.jsonl', '--model', model);
    expect(again.out).toContain('Nothing to write: the temperatures stay as they are.');
    expect(again.code).toBe(0);
  });
});
