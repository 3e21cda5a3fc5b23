import { beforeAll, describe, expect, it } from 'vitest';
import { answerLearned } from './answer-learned.ts';
import { type FrozenQuestion, type FrozenRow, hashOfState } from './frozen-rows.ts';
import { writeHeads } from './heads-file.ts';
import { fitQuestion, learnQuestion } from './learn.ts';
import type { QuestionReport } from './question-report.ts';

const DIMENSIONS = 12;

/** Numbers that look random and are the same every time, from −1 to 1. */
function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

interface Wanted {
  readonly rows: number;
  readonly options?: number;
  /** How far the vectors of one option lie from those of the others: 0 tells nothing. */
  readonly distance?: number;
  /** How often zero-shot is right. */
  readonly zeroShotRight?: number;
  readonly type?: FrozenQuestion['type'];
}

/** Rows whose vectors lie around a place of their option. */
function makeQuestion({
  rows,
  options = 3,
  distance = 1,
  zeroShotRight = 0.5,
  type = 'choice',
}: Wanted): FrozenQuestion {
  const next = randoms(7);
  const made = Array.from({ length: rows }, (_, i): FrozenRow => {
    const label = i % options;
    const vector = Float32Array.from({ length: DIMENSIONS }, (_unused, d) => next() + (d === label ? 2 * distance : 0));
    const isRight = (next() + 1) / 2 < zeroShotRight;
    const other = (label + 1 + Math.floor(((next() + 1) / 2) * (options - 1))) % options;
    const guess = isRight ? label : other;
    const zeroShot = Array.from({ length: options }, (_unused, k) => (k === guess ? 0.6 : 0.4 / (options - 1)));
    const target = Array.from({ length: options }, (_unused, k) => (k === label ? 1 : 0));
    return { line: i + 1, state: hashOfState(`document ${i}`), vector, zeroShot, target };
  });
  const hashes = Array.from({ length: options }, (_, k) => `${k}`.repeat(64));
  return { type, asked: 'a'.repeat(64), options: hashes, rows: made };
}

const withRows = (question: FrozenQuestion, change: (rows: readonly FrozenRow[]) => readonly FrozenRow[]) => ({
  ...question,
  rows: change(question.rows),
});

const accuracyOf = (report: QuestionReport, by: 'zeroShot' | 'learned') =>
  report.figures?.[by].accuracy.mean ?? Number.NaN;

describe('a question whose rows tell more than zero-shot knows', () => {
  const question = makeQuestion({ rows: 90 });
  let report: QuestionReport;
  const progress: string[] = [];
  beforeAll(async () => {
    report = await learnQuestion(question, { onProgress: (done, total) => progress.push(`${done}/${total}`) });
  });

  it('is learned, and judged on rows that were held out', () => {
    expect(report.verdict).toBe('learned');
    expect(accuracyOf(report, 'zeroShot')).toBeCloseTo(0.5, 0);
    expect(accuracyOf(report, 'learned')).toBeGreaterThan(accuracyOf(report, 'zeroShot') + 0.2);
    expect(report.learned?.figures).toEqual(report.figures);
    expect(report.figures?.learned.accuracy.spread).toBeGreaterThan(0);
    expect(report).toMatchObject({ rows: 90, states: 90, rowsOfOptions: [30, 30, 30], scarceOptions: [] });
    expect(report.learned?.rows).toEqual([30, 30, 30]);
  });

  it('says how far it is after each fit', () => {
    expect(progress).toHaveLength(17);
    expect(progress.at(-1)).toBe('17/17');
  });

  it('answers rows that it never saw', () => {
    const learned = report.learned;
    if (learned === undefined) throw new Error('It was not learned.');
    const others = makeQuestion({ rows: 300 }).rows.slice(90);
    const places = [0, 1, 2];
    const right = others.filter(({ zeroShot, vector, target }) => {
      const answer = answerLearned({ learned, order: places, places }, zeroShot, vector);
      return answer.indexOf(Math.max(...answer)) === target.indexOf(1);
    });
    expect(right.length / others.length).toBeCloseTo(accuracyOf(report, 'learned'), 1);
  });

  it('gives the same head to the bit in any order of the rows', async () => {
    const reversed = await learnQuestion(withRows(question, (rows) => rows.toReversed()));
    if (report.learned === undefined || reversed.learned === undefined) throw new Error('It was not learned.');
    expect(writeHeads([reversed.learned]).equals(writeHeads([report.learned]))).toBe(true);
  });

  it('gives the same head without the judgement', async () => {
    const quick = await fitQuestion(question);
    expect(quick).toEqual({ head: report.learned?.head, isGain: true });
  });

  it('draws a curve of fewer rows', () => {
    expect(report.curve.map(({ rowsPerOption }) => rowsPerOption)).toEqual([8, 16, 24]);
    const [first, , last] = report.curve.map(({ nll }) => nll.mean);
    expect(first).toBeGreaterThan(last ?? Number.NaN);
    expect(last).toBeLessThan(1);
  });
});

describe('a question', () => {
  it('whose vectors tell nothing stays with zero-shot, and says so', async () => {
    const report = await learnQuestion(makeQuestion({ rows: 60, distance: 0, zeroShotRight: 0.62 }));
    expect(report).toMatchObject({ verdict: 'no gain', learned: undefined });
    expect(Math.abs(accuracyOf(report, 'learned') - accuracyOf(report, 'zeroShot'))).toBeLessThan(0.06);
  });

  it('of three rows is not learned', async () => {
    const report = await learnQuestion(makeQuestion({ rows: 3 }));
    expect(report).toMatchObject({ verdict: 'too few rows', learned: undefined, figures: undefined, curve: [] });
    expect(await fitQuestion(makeQuestion({ rows: 3 }))).toBeUndefined();
  });

  it('of one document many times has too few', async () => {
    const [row] = makeQuestion({ rows: 1 }).rows;
    const report = await learnQuestion(withRows(makeQuestion({ rows: 1 }), () => (row ? new Array(30).fill(row) : [])));
    expect(report).toMatchObject({ verdict: 'too few rows', rows: 30, states: 1 });
  });

  it('of one option only is not learned', async () => {
    const question = makeQuestion({ rows: 40 });
    const report = await learnQuestion(
      withRows(question, (rows) => rows.map((row) => ({ ...row, target: [1, 0, 0] }))),
    );
    expect(report).toMatchObject({ verdict: 'one option only', learned: undefined, scarceOptions: [1, 2] });
  });

  it.each(['noul', 'score'] as const)('of type %s has one row of weights', async (type) => {
    const report = await learnQuestion(makeQuestion({ rows: 60, options: type === 'noul' ? 2 : 3, type }));
    expect(report.learned?.head.weights).toHaveLength(DIMENSIONS);
    expect(accuracyOf(report, 'learned')).toBeGreaterThan(accuracyOf(report, 'zeroShot'));
  });

  it('has options without rows that are none of the head', async () => {
    const question = makeQuestion({ rows: 90 });
    const more = {
      ...question,
      options: [...question.options, '9'.repeat(64)],
      rows: question.rows.map((row) => ({
        ...row,
        zeroShot: [...row.zeroShot.map((share) => 0.9 * share), 0.1],
        target: [...row.target, 0],
      })),
    };
    const { learned, scarceOptions } = await learnQuestion(more);
    expect(scarceOptions).toEqual([3]);
    expect(learned?.options).toEqual(question.options);
    expect(learned?.head.biases).toHaveLength(3);
    expect(learned?.head.weights).toHaveLength(3 * DIMENSIONS);
    expect(Math.abs(learned?.head.newOption ?? Number.NaN)).toBeLessThan(6);
  });

  it('may have rows that did not offer all its options', async () => {
    const question = makeQuestion({ rows: 90 });
    const report = await learnQuestion(
      withRows(question, (rows) =>
        rows.map((row, i) => {
          const missing = (row.target.indexOf(1) + 1) % 3;
          if (i % 4 > 0) return row;
          return { ...row, zeroShot: row.zeroShot.map((share, k) => (k === missing ? Number.NaN : share)) };
        }),
      ),
    );
    expect(report.verdict).toBe('learned');
    expect(report.learned?.head.weights.every(Number.isFinite)).toBe(true);
  });

  it('gains nothing on paper by rows that are there twice', async () => {
    const noise = makeQuestion({ rows: 60, distance: 0, zeroShotRight: 0.34 });
    const report = await learnQuestion(withRows(noise, (rows) => rows.flatMap((row) => [row, row, row])));
    expect(accuracyOf(report, 'learned')).toBeLessThan(0.5);
  });
});

describe('what is wrong with rows', () => {
  it('is told: a label that the other rows contradict', async () => {
    const question = makeQuestion({ rows: 90, distance: 2 });
    const wrong = withRows(question, (rows) =>
      rows.map((row) => (row.line === 31 ? { ...row, target: [0, 0, 1], zeroShot: [0.8, 0.1, 0.1] } : row)),
    );
    const { suspects } = await learnQuestion(wrong);
    expect(suspects[0]).toMatchObject({ line: 31, labelled: 2, likelier: 0 });
    expect(suspects[0]?.probability).toBeGreaterThan(0.7);
    expect((await learnQuestion(question)).suspects.map(({ line }) => line)).not.toContain(31);
  });

  it('is told: one document with different answers', async () => {
    const question = makeQuestion({ rows: 60 });
    const [first] = question.rows;
    if (first === undefined) throw new Error('There are no rows.');
    const more = [
      { ...first, line: 100, target: [0, 1, 0] },
      { ...first, line: 101 },
    ];
    const report = await learnQuestion(withRows(question, (rows) => [...rows, ...more]));
    expect(report.contradictions).toEqual([{ state: first.state, lines: [1, 100, 101], labelled: [0, 1] }]);
    expect(report.states).toBe(60);
  });
});

describe('learning', () => {
  it('ends when it is told to', async () => {
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(learnQuestion(makeQuestion({ rows: 400 }), { signal: aborted })).rejects.toThrow('enough');
  });
});
