// Temperatures out of labelled answers, per question type and number of options. Pure. The same numbers as
// models/training/umpire_training/calibrate.py; test/quality/figures.python.test.ts holds the two together.

import type { QuestionType } from '../domain/question.ts';
import { type Temperatures, temperatureBucket } from '../domain/temperature.ts';
import { type Figures, groupByTask, measureFigures } from './figures.ts';
import type { LabelledAnswer } from './labelled-answer.ts';

/** Buckets a manifest has, by question type. */
export const TEMPERATURE_BUCKETS: Readonly<Record<QuestionType, readonly string[]>> = {
  choice: ['2', '3-5', '6-10', '11+'],
  noul: ['2'],
  score: ['2', '3-5', '6-10'],
};

/** With fewer answers a bucket says too little of itself. */
export const LEAST_ANSWERS = 50;
const LOWEST = 0.5;
const HIGHEST = 5;
const STEPS = 24;
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/**
 * The temperature with the least mean loss, from 0.5 to 5. Golden-section search on its logarithm: the loss has one
 * minimum in the inverse temperature.
 * @param weights `[answers]`
 */
export function fitTemperature(answers: readonly LabelledAnswer[], weights: readonly number[]): number {
  const loss = (logTemperature: number): number =>
    answers.reduce((sum, answer, at) => sum + (weights[at] ?? 0) * lossAt(answer, Math.exp(logTemperature)), 0);
  let [low, high] = [Math.log(LOWEST), Math.log(HIGHEST)];
  for (let step = 0; step < STEPS; step++) {
    const left = high - GOLDEN_RATIO * (high - low);
    const right = low + GOLDEN_RATIO * (high - low);
    if (loss(left) < loss(right)) high = right;
    else low = left;
  }
  const found = Math.exp((low + high) / 2);
  return Math.round(Math.min(HIGHEST, Math.max(LOWEST, found)) * 1e4) / 1e4;
}

/** −Σ target·log softmax(logits / temperature): nothing underflows before the logarithm. */
function lossAt({ logits, target }: LabelledAnswer, temperature: number): number {
  const top = Math.max(...logits) / temperature;
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit / temperature - top), 0);
  const logTotal = top + Math.log(total);
  return target.reduce((loss, share, i) => loss - share * ((logits[i] ?? 0) / temperature - logTotal), 0);
}

/**
 * One temperature per bucket; a bucket with few answers takes that of its type, a type without answers 1.
 * @param heldout tasks of the second side: each side has half of the weight, tasks of a side weigh the same
 */
export function fitTemperatures(
  answers: readonly LabelledAnswer[],
  heldout: ReadonlySet<string> = new Set(),
): Record<QuestionType, Record<string, number>> {
  const fitType = (type: QuestionType): Record<string, number> => {
    const ofType = answers.filter((answer) => answer.type === type);
    const general = ofType.length > 0 ? fitTemperature(ofType, weightsOf(ofType, heldout)) : 1;
    const fitted = TEMPERATURE_BUCKETS[type].map((bucket) => {
      const inside = ofType.filter(({ logits }) => temperatureBucket(logits.length) === bucket);
      return [bucket, inside.length >= LEAST_ANSWERS ? fitTemperature(inside, weightsOf(inside, heldout)) : general];
    });
    return Object.fromEntries(fitted);
  };
  return { choice: fitType('choice'), noul: fitType('noul'), score: fitType('score') };
}

/** @returns `[answers]`, summing to 1 for each side that has answers */
function weightsOf(answers: readonly LabelledAnswer[], heldout: ReadonlySet<string>): number[] {
  const groups = groupByTask(answers);
  const heldoutTasks = [...groups.keys()].filter((task) => heldout.has(task)).length;
  return answers.map(({ task }) => {
    const tasksOfSide = heldout.has(task) ? heldoutTasks : groups.size - heldoutTasks;
    return 1 / (tasksOfSide * (groups.get(task)?.length ?? 1));
  });
}

export interface CrossFit {
  /** At temperature 1. */
  readonly before: Figures;
  /** With temperatures fitted on every task but this one. */
  readonly after: Figures;
  readonly temperatures: Temperatures;
}

/** By held-out task: figures with temperatures that never saw it. */
export function crossFitTasks(answers: readonly LabelledAnswer[], heldout: ReadonlySet<string>): Map<string, CrossFit> {
  const tasks = [...groupByTask(answers)].filter(([task]) => heldout.has(task));
  return new Map(
    tasks.map(([task, own]) => {
      const temperatures = fitTemperatures(
        answers.filter((answer) => answer.task !== task),
        heldout,
      );
      return [task, { before: measureFigures(own), after: measureFigures(own, temperatures), temperatures }];
    }),
  );
}
