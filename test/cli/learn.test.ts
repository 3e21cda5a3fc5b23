// `umpire learn` over a program that learns as it is told: what is ordered, what is said of it, how it ends.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LearnWatcher } from '../../src/cli/program.ts';
import { runCommand } from '../../src/cli/run-command.ts';
import type { MeasuredFigures } from '../../src/domain/learned-figures.ts';
import type { LearnOrder, LearnOutcome, LearnReport, QuestionFindings } from '../../src/learning/learn-order.ts';
import { program } from './program-double.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-learn-command-'));
const rows = join(folder, 'rows.jsonl');
const SECRET = 'Mrs Quillfeather was charged twice';
const TEAM = { type: 'choice', instructions: 'Which team?', criteria: { billing: null, refunds: null } };

beforeAll(() => {
  const row = { state: SECRET, questions: { team: { ...TEAM, gold: 'refunds' } } };
  writeFileSync(rows, `${JSON.stringify(row)}\n`.repeat(3));
});
afterAll(() => rmSync(folder, { recursive: true }));

function measured(mean: number): MeasuredFigures {
  const share = { mean, spread: 0.0213 };
  return { accuracy: share, macroF1: share, ece: { mean: 1 - mean, spread: Number.NaN }, answeredAt5: share };
}

const FINDINGS: QuestionFindings = {
  type: 'choice',
  asked: 'a'.repeat(64),
  options: ['b'.repeat(64), 'c'.repeat(64)],
  verdict: 'learned',
  rows: 60,
  rowsOfOptions: [57, 2.5],
  states: 58,
  figures: { zeroShot: measured(0.71), learned: measured(0.86) },
  curve: [
    { rowsPerOption: 8, rows: 16, accuracy: { mean: 0.8, spread: 0 }, nll: { mean: 0.5, spread: 0 } },
    { rowsPerOption: 15.6, rows: 31, accuracy: { mean: 0.86, spread: 0 }, nll: { mean: 0.4, spread: 0 } },
  ],
  wouldMoreHelp: true,
  scarceOptions: [1],
  contradictions: [{ state: 'd'.repeat(64), lines: [4, 9], labelled: [0, 1] }],
  suspects: [
    { line: 17, state: 'e'.repeat(64), labelled: 0, likelier: 1, probability: 0.97 },
    { line: 0, state: 'f'.repeat(64), labelled: 1, likelier: 0, probability: 0.8 },
  ],
  name: 'team',
  optionNames: ['billing', 'refunds'],
  earlierRows: 12,
};

const REPORT: LearnReport = {
  id: 'support',
  base: { id: 'kev', digest: 'sha256:1' },
  embedder: undefined,
  rows: 3,
  leftOut: [],
  replacedAnswers: 2,
  questions: [FINDINGS],
  untouched: 1,
};
const WRITTEN = { folder: '/data/models/support', digest: 'sha256:2' };

type Learn = (order: LearnOrder, watcher: LearnWatcher) => LearnOutcome | Promise<LearnOutcome>;

async function learn(args: readonly string[], answer: Partial<LearnOutcome> | Learn = {}) {
  const orders: LearnOrder[] = [];
  const { whole, said } = program({
    learnModel: async (_flags, order, watcher) => {
      orders.push(order);
      if (typeof answer === 'function') return await answer(order, watcher);
      const outcome = { report: REPORT, written: WRITTEN, ...answer };
      watcher.onReport(outcome.report);
      return outcome;
    },
  });
  const code = await runCommand(['learn', ...args], whole);
  return { code, ...said, order: orders[0] };
}

describe('umpire learn', () => {
  it('orders what was typed', async () => {
    const plain = await learn([rows, '--name', 'support']);
    expect(plain.order).toMatchObject({
      id: 'support',
      base: undefined,
      usesEmbedder: false,
      addsRows: false,
      renames: [],
      replaces: false,
      isTrial: false,
    });
    expect(plain.order?.rows.map(({ line }) => line)).toEqual([1, 2, 3]);
    const { order } = await learn(
      ['--more', rows, '--name', 's2', '--model', 'other', '--embedder', '--dry-run', '--limit', '2'],
      { written: undefined },
    );
    expect(order).toMatchObject({ id: 's2', base: 'other', usesEmbedder: true, addsRows: true, isTrial: true });
    expect(order?.rows).toHaveLength(2);
  });

  it('renames options, in the rows as well', async () => {
    const { order } = await learn([rows, '--name', 'support', '--rename', 'refunds=money = back']);
    expect(order?.renames).toEqual([{ from: 'refunds', to: 'money = back' }]);
    expect(order?.rows[0]?.questions[0]?.names).toEqual(['billing', 'money = back']);
    expect(order?.rows[0]?.questions[0]?.target).toEqual([0, 1]);
  });

  it.each([
    [['--name', 'support'], 'It takes one file of labelled rows.'],
    [[rows], 'Name the model that is made: --name support.'],
    [[rows, '--name', 'x', '--more', '--replace'], 'Either --more, or --replace: not both.'],
    [[rows, '--name', 'x', '--rename', 'refunds'], '--rename takes the old name and the new one: --rename old=new.'],
    [[rows, '--name', 'x', '--rename', '=b'], '--rename takes the old name and the new one: --rename old=new.'],
  ])('%j is a mistake in the command line', async (args, message) => {
    const { code, error, order } = await learn(args);
    expect([code, order]).toEqual([2, undefined]);
    expect(error).toContain(message);
  });

  it('tells what was gained, and rows by their lines alone', async () => {
    const { code, out, error } = await learn([rows, '--name', 'support']);
    expect([code, error]).toEqual([0, '']);
    expect(out).toBe(
      [
        'support: 3 rows, on kev (sha256:1)',
        '',
        'QUESTION  TYPE    ROWS  ACCURACY               MACRO-F1               ECE            ANSWERED AT 5 % ERROR',
        'team      choice  60    0.710 → 0.860 ± 0.021  0.710 → 0.860 ± 0.021  0.290 → 0.140  0.710 → 0.860 ± 0.021',
        '',
        'Before the arrow: zero-shot, as the base answers. After it: learned. Both by cross-validation, on rows that nothing was',
        'fitted on, with the standard deviation between its folds.',
        '',
        'team',
        '  Learned: 15.0 points more accurate. 12 of its rows were learned earlier.',
        '  More rows would help: accuracy is 0.800 at 8, 0.860 at 16 rows per option.',
        '  Few rows for refunds (2.5): zero-shot says nearly all about it.',
        '  Rows to look at, which the other rows contradict most surely:',
        '    line 17: says billing, the others say refunds (0.970)',
        '    a row learned earlier: says refunds, the others say billing (0.800)',
        '  The same document with different answers; each counts by its share:',
        '    line 4, line 9: billing, refunds',
        '',
        '2 answers learned earlier gave way to new ones about the same documents.',
        '1 other questions of the model stay as they are.',
        '',
        'Written: /data/models/support, sha256:2. Ask it by "model": "support"; a running server takes it at its next start.',
        '',
      ].join('\n'),
    );
  });

  it('says why a question is left out, and fails where none gains', async () => {
    const verdicts = ['no gain', 'too few rows', 'one option only'] as const;
    const bare = { ...FINDINGS, figures: undefined, curve: [], scarceOptions: [], contradictions: [], suspects: [] };
    const questions = verdicts.map((verdict) => ({ ...bare, verdict, earlierRows: 0, rows: 3, states: 1 }));
    const report = { ...REPORT, questions, replacedAnswers: 0, untouched: 0 };
    const { code, out } = await learn([rows, '--name', 'support'], { report, written: undefined });
    expect(code).toBe(1);
    expect(out).toContain('2 questions left out with too few rows; zero-shot answers as before: team (3), team (3).\n');
    expect(out).toContain(
      'One question left out with the same answer in all rows; zero-shot answers as before: team (3).\n',
    );
    expect(out).not.toContain('ACCURACY');
    expect(out.endsWith('Nothing was written: support would answer as its base does.\n')).toBe(true);
  });

  it('says of a question with figures that zero-shot stays', async () => {
    const questions = [{ ...FINDINGS, verdict: 'no gain' as const }];
    const { out } = await learn([rows, '--name', 'support'], { report: { ...REPORT, questions } });
    expect(out).toContain('  Left out: a head is no better than zero-shot on rows it has not seen.');
  });

  it.each([
    [0.71, 'Learned: about as accurate, with better probabilities.'],
    [0.66, 'Learned for its better probabilities, though it is 5.0 points less accurate.'],
  ])('does not call an accuracy of %d a gain', async (mean, words) => {
    const questions = [{ ...FINDINGS, figures: { zeroShot: measured(0.71), learned: measured(mean) } }];
    expect((await learn([rows, '--name', 'support'], { report: { ...REPORT, questions } })).out).toContain(words);
  });

  it('tells rows that were left out, and says so by its exit code', async () => {
    const report = { ...REPORT, leftOut: [{ line: 2, message: 'It has 9,000 tokens.' }] };
    const { code, out } = await learn([rows, '--name', 'support'], { report });
    expect(code).toBe(3);
    expect(out).toContain('Left out, because the base cannot read them:\n  line 2: It has 9,000 tokens.\n');
    const trial = await learn([rows, '--name', 'support', '--dry-run'], { written: undefined });
    expect(trial.code).toBe(0);
    expect(trial.out).toContain('Nothing was written (--dry-run).\n');
  });

  it('answers in JSON, with null for a figure of nothing', async () => {
    const { code, out, error } = await learn([rows, '--name', 'support', '--json']);
    expect([code, error]).toEqual([0, '']);
    const said = JSON.parse(out);
    expect(said).toMatchObject({
      id: 'support',
      base: 'kev',
      embedder: null,
      written: '/data/models/support',
      digest: 'sha256:2',
      questions: [
        {
          name: 'team',
          verdict: 'learned',
          options: [
            { name: 'billing', rows: 57 },
            { name: 'refunds', rows: 2.5 },
          ],
          learned: { accuracy: { mean: 0.86 }, ece: { spread: null } },
          more_rows_would_help: true,
          scarce_options: ['refunds'],
          contradictions: [{ lines: [4, 9], options: ['billing', 'refunds'] }],
          suspects: [{ line: 17, option: 'billing', likelier: 'refunds', probability: 0.97 }, { line: 0 }],
        },
      ],
    });
    expect(out).not.toContain(SECRET);
  });

  it('stops when it is asked to, and has written nothing', async () => {
    let interrupt = (): void => undefined;
    const { whole, said } = program({
      onInterrupt: (stop) => {
        interrupt = stop;
        return () => undefined;
      },
      learnModel: (_flags, _order, { signal, tell }) => {
        tell({ kind: 'step', step: 'reading', done: 1, total: 3 });
        const stopped = new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
        );
        interrupt();
        return stopped;
      },
    });
    expect(await runCommand(['learn', rows, '--name', 'support'], whole)).toBe(130);
    expect(said.error).toBe('Reading documents: 1 of 3\numpire: Stopped. Nothing was written.\n');
  });

  it('shows how far it is, on a terminal in one line', async () => {
    const { whole, said } = program({
      progressColumns: 40,
      learnModel: async (_flags, _order, { tell, onReport }) => {
        tell({ kind: 'step', step: 'reading', done: 3, total: 3 });
        tell({ kind: 'warning', text: 'Nothing learned earlier has the option "old".' });
        tell({ kind: 'step', step: 'fitting', done: 50, total: 100 });
        onReport(REPORT);
        return { report: REPORT, written: WRITTEN };
      },
    });
    expect(await runCommand(['learn', rows, '--name', 'support'], whole)).toBe(0);
    const clear = '\r\u001b[K';
    expect(said.error).toBe(
      `${clear}████████████████████████ Reading docume${clear}warning: Nothing learned earlier has the option "old".\n${clear}████████████░░░░░░░░░░░░ Fitting heads:${clear}`,
    );
  });
});
