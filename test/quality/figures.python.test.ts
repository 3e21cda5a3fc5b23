// The statistics of the server beside those of the training code, on answers that models/training/fixtures/quality_figures.py
// made up and judged.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Figures, measureFigures, measureTasks } from '../../src/quality/figures.ts';
import type { LabelledAnswer } from '../../src/quality/labelled-answer.ts';
import { crossFitTasks, fitTemperatures } from '../../src/quality/temperature-fit.ts';

/** The training code takes its logarithms in single precision. */
const TOLERANCE = 1e-6;
/** Temperatures are rounded to four decimals. */
const TEMPERATURE_TOLERANCE = 1.5e-4;

const number = z.number();
const figures = z.object({
  questions: number,
  accuracy: number,
  macro_f1: number,
  nll: number,
  ece: number,
  answered_at_5: number,
});
const temperatures = z.record(z.string(), z.record(z.string(), number));
const fixture = z
  .object({
    heldout: z.array(z.string()),
    answers: z.array(
      z.object({
        task: z.string(),
        type: z.enum(['choice', 'noul', 'score']),
        logits: z.array(number),
        target: z.array(number),
        names: z.array(z.string()),
      }),
    ),
    temperatures,
    fitted_without_sides: temperatures,
    by_task: z.record(z.string(), figures),
    all_with_temperatures: figures,
    cross_fitted: z.record(z.string(), z.object({ ece_before: number, ece: number, nll: number })),
  })
  .parse(
    JSON.parse(gunzipSync(readFileSync(join(import.meta.dirname, '../fixtures/quality/figures.json.gz'))).toString()),
  );

const answers = fixture.answers.map((answer, row): LabelledAnswer => ({ ...answer, row, stateTokens: 1 }));
const heldout = new Set(fixture.heldout);

function expectFigures(found: Figures | undefined, wanted: z.infer<typeof figures> | undefined): void {
  const near = (value: number | undefined) => expect.closeTo(value ?? Number.NaN, -Math.log10(2 * TOLERANCE));
  expect(found).toMatchObject({
    questions: wanted?.questions,
    accuracy: near(wanted?.accuracy),
    macroF1: near(wanted?.macro_f1),
    nll: near(wanted?.nll),
    ece: near(wanted?.ece),
    answeredAt5: near(wanted?.answered_at_5),
  });
}

function expectTemperatures(found: object, wanted: z.infer<typeof temperatures>): void {
  const flat = (map: object) =>
    Object.entries(map).flatMap(([type, buckets]) =>
      Object.entries(buckets).map(([bucket, value]) => [`${type} ${bucket}`, value] as const),
    );
  expect(flat(found).map(([name]) => name)).toEqual(flat(wanted).map(([name]) => name));
  const wantedByName = new Map(flat(wanted));
  for (const [name, value] of flat(found)) {
    expect(Math.abs(Number(value) - Number(wantedByName.get(name)))).toBeLessThan(TEMPERATURE_TOLERANCE);
  }
}

describe('beside the training code', () => {
  it('the figures of every task are the same', () => {
    const tasks = measureTasks(answers);
    expect([...tasks.keys()].sort()).toEqual(Object.keys(fixture.by_task).sort());
    for (const [task, found] of tasks) expectFigures(found, fixture.by_task[task]);
  });

  it('fitted temperatures are the same, with both sides and with one', () => {
    expectTemperatures(fitTemperatures(answers, heldout), fixture.temperatures);
    expectTemperatures(fitTemperatures(answers), fixture.fitted_without_sides);
  });

  it('figures with temperatures are the same', () => {
    expectFigures(measureFigures(answers, fixture.temperatures), fixture.all_with_temperatures);
  });

  it('cross-fitted figures are the same', () => {
    const cross = crossFitTasks(answers, heldout);
    expect([...cross.keys()].sort()).toEqual(Object.keys(fixture.cross_fitted).sort());
    for (const [task, { before, after }] of cross) {
      const wanted = fixture.cross_fitted[task];
      expect(before.ece).toBeCloseTo(wanted?.ece_before ?? Number.NaN, 5);
      // A temperature may differ in its fourth decimal, and an answer then cross the edge of a bin.
      expect(after.ece).toBeCloseTo(wanted?.ece ?? Number.NaN, 3);
      expect(after.nll).toBeCloseTo(wanted?.nll ?? Number.NaN, 4);
    }
  });
});
