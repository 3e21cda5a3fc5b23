// Learns one question from its frozen rows: the head, and an honest report of what it is worth. Nothing is read or written,
// nothing depends on chance or time: the same rows, in any order, give the same head to the bit.

import { FINE_GAIN, penaltyOf } from './choose-penalty.ts';
import { chooseByFolds, countFits, crossValidate, type FoldedRows } from './cross-validate.ts';
import { HeadFitter } from './fit-head.ts';
import { arrangeRows } from './fit-rows.ts';
import { dealFolds } from './folds.ts';
import type { FrozenQuestion } from './frozen-rows.ts';
import { findContradictions, findSuspects, measureRows } from './judge-rows.ts';
import type { Head } from './learned-model.ts';
import { doesCurveRise, drawCurve } from './learning-curve.ts';
import { fitNewOption } from './new-option.ts';
import type { LearnVerdict, QuestionReport } from './question-report.ts';
import { WorkPace } from './work-pace.ts';

export interface LearnSettings {
  /** Dimensions of each part of the vectors: the base's, the question's view, the embedder's. Undefined: one part. */
  readonly parts?: readonly number[];
  /** Fits done and fits in all. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/** Documents below which nothing can be held out. */
const LEAST_STATES = 8;
/** Rows of an option below which zero-shot says nearly all about it. */
const SCARCE_ROWS = 4;

/** @throws the signal's reason */
export async function learnQuestion(question: FrozenQuestion, settings: LearnSettings = {}): Promise<QuestionReport> {
  const about = describeRows(question);
  const fault = findFault(about);
  if (fault !== undefined)
    return { ...about, ...withoutHead(fault), figures: undefined, curve: [], wouldMoreHelp: undefined };
  const { rows, fitter, folded } = await prepare(question, settings);
  const total = countFits(folded.folds.length) + 2;
  let done = 0;
  const onFit = () => settings.onProgress?.(++done, total);
  const judged = await crossValidate(folded, fitter, onFit);
  const curve = await drawCurve(folded, fitter, judged);
  onFit();
  const [zeroShot, learned] = [judged.zeroShot, judged.learned].map((of) => measureRows(rows, of, folded.folds));
  if (zeroShot === undefined || learned === undefined) throw new Error('Two lists were measured.');
  const figures = { zeroShot: withoutLoss(zeroShot), learned: withoutLoss(learned) };
  const isGain = judged.choice.isGain && learned.nll.mean < zeroShot.nll.mean;
  const head = isGain ? await fitFinally(folded, fitter, judged.choice) : undefined;
  onFit();
  const { type, asked, options, rowsOfOptions } = about;
  return {
    ...about,
    ...(head === undefined
      ? withoutHead('no gain')
      : { verdict: 'learned', learned: { type, asked, ...keepLearned(head, options, rowsOfOptions), figures } }),
    figures,
    curve,
    wouldMoreHelp: doesCurveRise(curve),
    suspects: findSuspects(rows, judged.byHead),
  };
}

export interface QuickFit {
  readonly head: Head;
  /** Whether the loss on held-out rows says that it is better than zero-shot. */
  readonly isGain: boolean;
}

/**
 * The head that `learnQuestion` would find, without the nested judgement: for whoever judges on other rows.
 * @returns of all options, those without rows included; undefined where there are too few rows
 */
export async function fitQuestion(
  question: FrozenQuestion,
  settings: LearnSettings = {},
): Promise<QuickFit | undefined> {
  if (findFault(describeRows(question)) !== undefined) return undefined;
  const { fitter, folded } = await prepare(question, settings);
  const { choice } = await chooseByFolds(folded, fitter, () => {});
  const fitted = await fitFinally(folded, fitter, choice);
  return { head: fitted.head, isGain: choice.isGain };
}

async function prepare(question: FrozenQuestion, { parts, signal }: LearnSettings) {
  const pace = new WorkPace(signal);
  const dimensions = question.rows[0]?.vector.length ?? 0;
  const rows = await arrangeRows(
    question,
    (parts ?? [dimensions]).map((size) => ({ dimensions: size, isUnit: true })),
    pace,
  );
  const fitter = new HeadFitter(rows, pace);
  const folds = dealFolds(rows);
  const folded: FoldedRows = { rows, folds, newOption: await fitNewOption(rows, folds, fitter) };
  return { rows, fitter, folded };
}

interface FinalHead {
  readonly head: Head;
  readonly isLearned: readonly boolean[];
}

async function fitFinally(
  { rows, newOption }: FoldedRows,
  fitter: HeadFitter,
  { strength, temperature }: { readonly strength: number; readonly temperature: number },
): Promise<FinalHead> {
  const fitted = await fitter.fit([...rows.rows.keys()], penaltyOf(strength), { gain: FINE_GAIN });
  const { offset, biases, isLearned } = fitted;
  const weights = rows.toVectorWeights(fitted.weights, rows.places === undefined ? rows.options : 1);
  const { parts, centre } = rows;
  return { head: { offset, temperature, newOption, parts, centre, biases, weights }, isLearned };
}

/** Of a choice, options without rows are none of the head's: they are scored as new ones. */
function keepLearned({ head, isLearned }: FinalHead, options: readonly string[], rows: readonly number[]) {
  const columns = head.weights.length / head.centre.length;
  if (columns < options.length || isLearned.every(Boolean)) return { options, rows, head };
  const kept = options.flatMap((_, k) => (isLearned[k] ? [k] : []));
  const weights = new Float32Array(kept.length * head.centre.length);
  for (const [at, k] of kept.entries()) {
    weights.set(head.weights.subarray(k * head.centre.length, (k + 1) * head.centre.length), at * head.centre.length);
  }
  return {
    options: kept.map((k) => options[k] ?? ''),
    rows: kept.map((k) => rows[k] ?? 0),
    head: { ...head, biases: Float64Array.from(kept, (k) => head.biases[k] ?? 0), weights },
  };
}

function describeRows({ type, asked, options, rows }: FrozenQuestion) {
  const rowsOfOptions = options.map((_, k) => rows.reduce((sum, { target }) => sum + (target[k] ?? 0), 0));
  return {
    type,
    asked,
    options,
    rows: rows.length,
    rowsOfOptions,
    states: new Set(rows.map(({ state }) => state)).size,
    scarceOptions: rowsOfOptions.flatMap((count, k) => (count < SCARCE_ROWS ? [k] : [])),
    contradictions: findContradictions({ rows }),
    suspects: [],
  };
}

function findFault({ states, rowsOfOptions }: ReturnType<typeof describeRows>): LearnVerdict | undefined {
  if (states < LEAST_STATES) return 'too few rows';
  return rowsOfOptions.filter((count) => count > 0).length < 2 ? 'one option only' : undefined;
}

function withoutHead(verdict: LearnVerdict) {
  return { verdict, learned: undefined };
}

function withoutLoss({ nll: _, ...figures }: ReturnType<typeof measureRows>) {
  return figures;
}
