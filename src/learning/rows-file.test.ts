import { describe, expect, it } from 'vitest';
import type { FrozenQuestion } from './frozen-rows.ts';
import { readFrozenRows, writeFrozenRows } from './rows-file.ts';
import { LearnedFileError } from './sealed-bytes.ts';

const hashOf = (digit: string): string => digit.repeat(64);
const QUESTIONS: readonly FrozenQuestion[] = [
  {
    type: 'choice',
    asked: hashOf('a'),
    options: [hashOf('1'), hashOf('2'), hashOf('3')],
    rows: [
      {
        line: 7,
        state: hashOf('b'),
        vector: Float32Array.of(0.1, 1e-40, 3),
        zeroShot: [0.1, 0.9, Number.NaN],
        target: [0, 1, 0],
      },
      { line: 8, state: hashOf('c'), vector: Float32Array.of(4, 5, 6), zeroShot: [0.2, 0.3, 0.5], target: [1, 0, 0] },
    ],
  },
  { type: 'noul', asked: hashOf('d'), options: [hashOf('4'), hashOf('5')], rows: [] },
];

describe('a file of rows', () => {
  it('gives back what was written to the bit, but for the lines of a file that is gone', () => {
    const earlier = QUESTIONS.map((question) => ({
      ...question,
      rows: question.rows.map((row) => ({ ...row, line: 0 })),
    }));
    expect(readFrozenRows(writeFrozenRows(QUESTIONS))).toEqual(earlier);
    expect(readFrozenRows(writeFrozenRows([]))).toEqual([]);
  });

  it('is refused when it is damaged, or a file of heads', () => {
    const bytes = writeFrozenRows(QUESTIONS);
    const damaged = Buffer.from(bytes);
    damaged[100] = (damaged[100] ?? 0) ^ 1;
    expect(() => readFrozenRows(damaged)).toThrow(LearnedFileError);
    expect(() => readFrozenRows(Buffer.concat([Buffer.from('umphead1'), bytes.subarray(8)]))).toThrow(
      'begin with umprows1',
    );
    expect(() => readFrozenRows(Buffer.alloc(0))).toThrow(LearnedFileError);
  });
});
