// heads.bin of a learned model: its questions by their hashes, with heads and figures, exact to the bit.

import { z } from 'zod';
import { placesOfOptions } from './head-form.ts';
import type { Head, LearnedQuestion } from './learned-model.ts';
import { type ArrayTaker, LearnedFileError, sealBytes, unsealBytes } from './sealed-bytes.ts';

const MAGIC = 'umphead1';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const share = z.strictObject({ mean: z.number().nullable(), spread: z.number().nullable() });
const measured = z.strictObject({ accuracy: share, macroF1: share, ece: share, answeredAt5: share });
const question = z.strictObject({
  type: z.enum(['choice', 'noul', 'score']),
  asked: sha256,
  options: z.array(sha256).min(2).max(255),
  rows: z.array(z.number().nonnegative()),
  figures: z.strictObject({ zeroShot: measured, learned: measured }),
  offset: z.number(),
  temperature: z.number().positive(),
  newOption: z.number(),
  parts: z.array(z.strictObject({ dimensions: z.int().positive().max(65_536), isUnit: z.boolean() })).min(1),
});
const header = z.array(question);

type HeadHeader = z.infer<typeof question>;

export function writeHeads(questions: readonly LearnedQuestion[]): Buffer {
  const described = questions.map(({ head, ...about }) => {
    const { offset, temperature, newOption, parts } = head;
    // JSON writes NaN as null: a figure of nothing.
    return { ...about, offset, temperature, newOption, parts };
  });
  const arrays = questions.flatMap(({ head }) => [head.centre, head.biases, head.weights]);
  return sealBytes(MAGIC, described, arrays);
}

/** @throws LearnedFileError */
export function readHeads(bytes: Buffer): LearnedQuestion[] {
  const opened = unsealBytes(MAGIC, bytes);
  const parsed = header.safeParse(opened.header);
  if (!parsed.success) throw new LearnedFileError('Its header is not that of heads.');
  const questions = parsed.data.map((described) => toLearnedQuestion(described, opened.arrays));
  opened.arrays.end();
  return questions;
}

function toLearnedQuestion(described: HeadHeader, arrays: ArrayTaker): LearnedQuestion {
  const { type, asked, options, rows, figures, ...numbers } = described;
  if (rows.length !== options.length) throw new LearnedFileError('It has not as many counts as options.');
  return { type, asked, options, rows, figures: toFigures(figures), head: takeHead(described, numbers, arrays) };
}

function takeHead(
  { type, options }: HeadHeader,
  numbers: Pick<Head, 'offset' | 'temperature' | 'newOption' | 'parts'>,
  arrays: ArrayTaker,
): Head {
  const dimensions = numbers.parts.reduce((total, part) => total + part.dimensions, 0);
  const rows = placesOfOptions(type, options.length) === undefined ? options.length : 1;
  const centre = arrays.takeFloat32(dimensions);
  const biases = arrays.takeFloat64(options.length);
  const weights = arrays.takeFloat32(rows * dimensions);
  for (const values of [centre, biases, weights]) {
    if (!values.every(Number.isFinite)) throw new LearnedFileError('It has a weight that is not a number.');
  }
  return { ...numbers, centre, biases, weights };
}

function toFigures({ zeroShot, learned }: HeadHeader['figures']): LearnedQuestion['figures'] {
  return { zeroShot: toMeasured(zeroShot), learned: toMeasured(learned) };
}

function toMeasured(of: z.infer<typeof measured>): LearnedQuestion['figures']['learned'] {
  return {
    accuracy: toShare(of.accuracy),
    macroF1: toShare(of.macroF1),
    ece: toShare(of.ece),
    answeredAt5: toShare(of.answeredAt5),
  };
}

function toShare({ mean, spread }: z.infer<typeof share>): { mean: number; spread: number } {
  return { mean: mean ?? Number.NaN, spread: spread ?? Number.NaN };
}
