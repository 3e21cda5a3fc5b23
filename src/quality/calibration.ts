// New temperatures for a model out of somebody's own labelled rows, and the proof that they are better: every figure
// after the change is measured on rows that the temperature in question was not fitted on. Pure.

import type { QuestionType } from '../domain/question.ts';
import {
  softmax,
  type Temperatures,
  temperatureBucket,
  temperatureOf,
  temperatureOfBucket,
} from '../domain/temperature.ts';
import { type Figures, figuresOf } from './figures.ts';
import { type LabelledAnswer, probabilitiesOf } from './labelled-answer.ts';
import { fitTemperature, LEAST_ANSWERS, TEMPERATURE_BUCKETS } from './temperature-fit.ts';

export type CalibrationVerdict = 'fitted' | 'too few answers' | 'no gain';

export interface CalibratedGroup {
  readonly type: QuestionType;
  readonly bucket: string;
  readonly answers: number;
  readonly verdict: CalibrationVerdict;
  readonly oldTemperature: number;
  /** The old one unless fitted. */
  readonly newTemperature: number;
  readonly before: Figures;
  /** With temperatures fitted on the other folds; what was before when none was fitted. */
  readonly after: Figures;
}

export interface Calibration {
  /** Groups that have answers. */
  readonly groups: readonly CalibratedGroup[];
  /** Every bucket of every type, kept or new. */
  readonly temperatures: Readonly<Record<QuestionType, Readonly<Record<string, number>>>>;
  readonly before: Figures;
  readonly after: Figures;
}

const FOLDS = 5;

/**
 * Fits a temperature for every group of answers that is large enough, and keeps the old one where the new one does not
 * lower the loss on rows it was not fitted on. Answers weigh the same. Questions of one option say nothing and are left out.
 */
export function calibrate(all: readonly LabelledAnswer[], current: Temperatures): Calibration {
  const answers = all.filter(({ logits }) => logits.length > 1);
  const judged = listGroups(answers).map((group) => judgeGroup(group, current));
  const fitted = new Map(judged.flatMap(({ members, probabilities }) => members.map((m, i) => [m, probabilities[i]])));
  return {
    groups: judged.map(({ group }) => group),
    temperatures: mergeTemperatures(
      current,
      judged.map(({ group }) => group),
    ),
    before: figuresOf(
      answers,
      answers.map((answer) => probabilitiesOf(answer, current)),
    ),
    after: figuresOf(
      answers,
      answers.map((answer) => fitted.get(answer) ?? []),
    ),
  };
}

interface AnswerGroup {
  readonly type: QuestionType;
  readonly bucket: string;
  readonly members: readonly LabelledAnswer[];
}

function listGroups(answers: readonly LabelledAnswer[]): AnswerGroup[] {
  return (['choice', 'noul', 'score'] as const).flatMap((type) =>
    TEMPERATURE_BUCKETS[type].flatMap((bucket) => {
      const members = answers.filter(
        (answer) => answer.type === type && temperatureBucket(answer.logits.length) === bucket,
      );
      return members.length > 0 ? [{ type, bucket, members }] : [];
    }),
  );
}

interface JudgedGroup {
  readonly group: CalibratedGroup;
  readonly members: readonly LabelledAnswer[];
  /** `[members][options]`, after the change */
  readonly probabilities: readonly (readonly number[])[];
}

function judgeGroup({ type, bucket, members }: AnswerGroup, current: Temperatures): JudgedGroup {
  const oldTemperature = temperatureOf(current, type, members[0]?.logits.length ?? 0);
  const kept = members.map((answer) => probabilitiesOf(answer, current));
  const before = figuresOf(members, kept);
  const about = { type, bucket, answers: members.length, oldTemperature, before };
  const keep = (verdict: CalibrationVerdict): JudgedGroup => ({
    group: { ...about, verdict, newTemperature: oldTemperature, after: before },
    members,
    probabilities: kept,
  });
  const rows = new Set(members.map(({ row }) => row));
  if (members.length < LEAST_ANSWERS || rows.size < FOLDS) return keep('too few answers');
  const probabilities = probabilitiesOfFolds(members);
  const after = figuresOf(members, probabilities);
  if (!(after.nll < before.nll)) return keep('no gain');
  const group = { ...about, verdict: 'fitted' as const, newTemperature: fitEvenly(members), after };
  return { group, members, probabilities };
}

/** @returns `[answers][options]`, each with a temperature fitted on the rows of the other folds */
function probabilitiesOfFolds(answers: readonly LabelledAnswer[]): number[][] {
  const rows = [...new Set(answers.map(({ row }) => row))];
  // Rows in turn, so that a file sorted by label gives folds that are alike.
  const foldOfRow = new Map(rows.map((row, at) => [row, at % FOLDS]));
  const temperatures = Array.from({ length: FOLDS }, (_, fold) =>
    fitEvenly(answers.filter(({ row }) => foldOfRow.get(row) !== fold)),
  );
  return answers.map(({ row, logits }) => softmax(logits, temperatures[foldOfRow.get(row) ?? 0] ?? 1));
}

function fitEvenly(answers: readonly LabelledAnswer[]): number {
  return fitTemperature(
    answers,
    answers.map(() => 1 / answers.length),
  );
}

/** The current temperatures with those of fitted groups put in; a type without any stays as it is. */
function mergeTemperatures(current: Temperatures, groups: readonly CalibratedGroup[]): Calibration['temperatures'] {
  const ofType = (type: QuestionType): Readonly<Record<string, number>> => {
    const fitted = groups.filter((group) => group.type === type && group.verdict === 'fitted');
    if (fitted.length === 0) return current[type] ?? {};
    // Each by its name: one that is not named would follow those beside it.
    const buckets = TEMPERATURE_BUCKETS[type];
    const kept = buckets.map((bucket) => [bucket, temperatureOfBucket(current[type], bucket)]);
    return Object.fromEntries([...kept, ...fitted.map((group) => [group.bucket, group.newTemperature])]);
  };
  return { choice: ofType('choice'), noul: ofType('noul'), score: ofType('score') };
}
