// rows.bin of a learned model: the frozen rows it was fitted on, for those that are added later. No text of anybody.

import { z } from 'zod';
import type { FrozenQuestion, FrozenRow } from './frozen-rows.ts';
import { LearnedFileError, sealBytes, unsealBytes } from './sealed-bytes.ts';

const MAGIC = 'umprows1';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const header = z.strictObject({
  dimensions: z.int().nonnegative().max(65_536),
  questions: z.array(
    z.strictObject({
      type: z.enum(['choice', 'noul', 'score']),
      asked: sha256,
      options: z.array(sha256).min(2).max(255),
      states: z.array(sha256),
    }),
  ),
});

/** Rows lose their lines: they are those of an earlier file. */
export function writeFrozenRows(questions: readonly FrozenQuestion[]): Buffer {
  const dimensions = questions.flatMap(({ rows }) => rows)[0]?.vector.length ?? 0;
  const described = questions.map(({ type, asked, options, rows }) => ({
    type,
    asked,
    options,
    states: rows.map(({ state }) => state),
  }));
  const arrays = questions.flatMap(({ rows }) => rows.flatMap((row) => arraysOf(row)));
  return sealBytes(MAGIC, { dimensions, questions: described }, arrays);
}

function arraysOf({ vector, zeroShot, target }: FrozenRow): (Float32Array | Float64Array)[] {
  return [vector, new Float64Array(zeroShot), new Float64Array(target)];
}

/** @throws LearnedFileError */
export function readFrozenRows(bytes: Buffer): FrozenQuestion[] {
  const opened = unsealBytes(MAGIC, bytes);
  const parsed = header.safeParse(opened.header);
  if (!parsed.success) throw new LearnedFileError('Its header is not that of rows.');
  const { dimensions } = parsed.data;
  const questions = parsed.data.questions.map(({ states, ...question }) => ({
    ...question,
    rows: states.map((state): FrozenRow => {
      const vector = opened.arrays.takeFloat32(dimensions);
      const zeroShot = [...opened.arrays.takeFloat64(question.options.length)];
      const target = [...opened.arrays.takeFloat64(question.options.length)];
      return { line: 0, state, vector, zeroShot, target };
    }),
  }));
  opened.arrays.end();
  return questions;
}
