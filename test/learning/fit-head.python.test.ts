// Fitted heads beside those of scikit-learn, and of scipy for what scikit-learn lacks: offsets, levels, shared labels.
// models/training/fixtures/learned_heads.py made up the rows and fitted them.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerLearned } from '../../src/learning/answer-learned.ts';
import { FINE_GAIN } from '../../src/learning/choose-penalty.ts';
import { HeadFitter } from '../../src/learning/fit-head.ts';
import { arrangeRows } from '../../src/learning/fit-rows.ts';
import type { FrozenQuestion } from '../../src/learning/frozen-rows.ts';
import type { LearnedQuestion } from '../../src/learning/learned-model.ts';
import { predictInto, probabilitiesOfRow } from '../../src/learning/predict-rows.ts';
import { WorkPace } from '../../src/learning/work-pace.ts';
import { readPackedJson } from '../models/packed-json.ts';

const TOLERANCE = 1e-6;

const table = z.array(z.array(z.number()));
const cases = z
  .array(
    z.object({
      by: z.string(),
      type: z.enum(['choice', 'noul', 'score']),
      penalty: z.object({ weights: z.number(), biases: z.number(), offset: z.number() }),
      vectors: table,
      zero_shot: z.array(z.array(z.number().nullable())),
      target: table,
      offset: z.number(),
      probabilities: table,
    }),
  )
  .parse(readPackedJson(join(import.meta.dirname, '../fixtures/learning/heads.json.br')));

type Case = (typeof cases)[number];

function toQuestion({ type, vectors, zero_shot, target }: Case): FrozenQuestion {
  const rows = vectors.map((vector, i) => ({
    line: i + 1,
    state: String(i).padStart(4, '0'),
    vector: Float32Array.from(vector),
    zeroShot: (zero_shot[i] ?? []).map((probability) => probability ?? Number.NaN),
    target: target[i] ?? [],
  }));
  return { type, asked: '', options: (target[0] ?? []).map((_, k) => `${k}`), rows };
}

function furthest(found: readonly (readonly number[])[], wanted: readonly (readonly number[])[]): number {
  return Math.max(
    ...wanted.flatMap((row, i) => row.map((value, k) => Math.abs(value - (found[i]?.[k] ?? Number.NaN)))),
  );
}

describe.each(cases.map((one) => [`${one.by}: ${one.type} of ${one.target.length} rows`, one] as const))(
  '%s',
  (_, one) => {
    const question = toQuestion(one);
    const dimensions = one.vectors[0]?.length ?? 0;
    const fitRows = async () => {
      const pace = new WorkPace(undefined);
      const rows = await arrangeRows(question, [{ dimensions, isUnit: true }], pace);
      const members = [...rows.rows.keys()];
      return { rows, members, head: await new HeadFitter(rows, pace).fit(members, one.penalty, { gain: FINE_GAIN }) };
    };

    it('gives the same probabilities and the same weight of the offset', async () => {
      const { rows, members, head } = await fitRows();
      const logits = new Float64Array(rows.rows.length * rows.options);
      predictInto(logits, { rows, members }, head, 0);
      const found = members.map((row) => probabilitiesOfRow(rows, logits, row, 1));
      expect(furthest(found, one.probabilities)).toBeLessThan(TOLERANCE);
      expect(Math.abs(head.offset - one.offset)).toBeLessThan(TOLERANCE);
    });

    it('answers the same through the head that is kept', async () => {
      const { rows, head } = await fitRows();
      const { parts, centre } = rows;
      const weights = rows.toVectorWeights(head.weights, rows.places === undefined ? rows.options : 1);
      const { offset, biases } = head;
      const kept = { offset, temperature: 1, newOption: 0, parts, centre, biases, weights };
      const learned = { ...question, head: kept } as unknown as LearnedQuestion;
      const order = question.options.map((_option, k) => k);
      const offered = one.zero_shot.flatMap((row, i) => (row.includes(null) ? [] : [i]));
      const found = offered.map((i) => {
        const { zeroShot = [], vector = new Float32Array() } = question.rows[i] ?? {};
        return answerLearned({ learned, order, places: order }, zeroShot, vector);
      });
      // Weights are kept in single precision.
      const wanted = offered.map((i) => one.probabilities[i] ?? []);
      expect(furthest(found, wanted)).toBeLessThan(TOLERANCE);
    });
  },
);
