import { describe, expect, it } from 'vitest';
import { readHeads, writeHeads } from './heads-file.ts';
import type { LearnedQuestion } from './learned-model.ts';
import { LearnedFileError, sealBytes } from './sealed-bytes.ts';

const hashOf = (digit: string): string => digit.repeat(64);
const share = (mean: number) => ({ mean, spread: mean / 10 });
const measured = (accuracy: number) => ({
  accuracy: share(accuracy),
  macroF1: share(0.1 + 0.2),
  ece: share(1e-3),
  answeredAt5: share(Number.NaN),
});

const CHOICE: LearnedQuestion = {
  type: 'choice',
  asked: hashOf('0'),
  options: [hashOf('1'), hashOf('2'), hashOf('3')],
  head: {
    offset: 0.1 + 0.2,
    temperature: 1 / 3,
    newOption: -1e-17,
    parts: [
      { dimensions: 1, isUnit: false },
      { dimensions: 1, isUnit: true },
    ],
    centre: Float32Array.of(0.1, -0.2),
    biases: Float64Array.of(0.1, 1e300, -0),
    weights: Float32Array.of(0.3, 2, 3, 4, 5, 1e-40),
  },
  rows: [8, 7.5, 3],
  figures: { zeroShot: measured(0.5), learned: measured(0.75) },
};
const SCORE: LearnedQuestion = {
  ...CHOICE,
  type: 'score',
  asked: hashOf('f'),
  head: { ...CHOICE.head, weights: Float32Array.of(1, 2) },
};

describe('a file of heads', () => {
  it('gives back what was written, to the bit', () => {
    expect(readHeads(writeHeads([CHOICE, SCORE]))).toEqual([CHOICE, SCORE]);
    expect(readHeads(writeHeads([]))).toEqual([]);
  });

  it('is the same for the same heads', () => {
    expect(writeHeads([CHOICE, SCORE]).equals(writeHeads([CHOICE, SCORE]))).toBe(true);
  });

  it('is refused with one bit changed, wherever it is, and when it was cut', () => {
    const bytes = writeHeads([CHOICE, SCORE]);
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      expect(() => readHeads(damaged)).toThrow(LearnedFileError);
      expect(() => readHeads(bytes.subarray(0, at))).toThrow(LearnedFileError);
    }
  });

  it('is refused when what it says of itself cannot be', () => {
    const sealed = (header: unknown, ...arrays: Float64Array[]) => sealBytes('umphead1', header, arrays);
    expect(() => readHeads(sealed([], Float64Array.of(1)))).toThrow('more than its header');
    expect(() => readHeads(sealed({}))).toThrow('not that of heads');
    const infinite = { ...CHOICE, head: { ...CHOICE.head, weights: new Float32Array(6).fill(Number.NaN) } };
    expect(() => readHeads(writeHeads([infinite]))).toThrow('not a number');
    const short = { ...CHOICE, head: { ...CHOICE.head, weights: new Float32Array(5) } };
    expect(() => readHeads(writeHeads([short]))).toThrow('ends before');
    expect(() => readHeads(writeHeads([{ ...CHOICE, rows: [1] }]))).toThrow('as many counts as options');
  });
});
