// One learning from its rows to a model folder: what there is, every document read once, heads, the report, and only then
// the folder. It may run in any process, beside a server or in a command: it has an engine of its own.

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { describeCount } from '../../cli/batch-progress.ts';
import type { Config } from '../../config/schema.ts';
import type { LocalEngine } from '../../engine/local-engine.ts';
import type { FrozenQuestion } from '../../learning/frozen-rows.ts';
import { joinRows, renameOptions } from '../../learning/joined-rows.ts';
import { learnQuestion } from '../../learning/learn.ts';
import { LearnError } from '../../learning/learn-error.ts';
import {
  type LearnNews,
  type LearnOrder,
  type LearnOutcome,
  type LearnReport,
  MOST_ANSWERS,
} from '../../learning/learn-order.ts';
import type { LearnedModel, LearnedQuestion } from '../../learning/learned-model.ts';
import type { QuestionReport } from '../../learning/question-report.ts';
import { groupByDocument, type RowDocument } from '../../learning/row-documents.ts';
import type { Logger } from '../../observability/logger.ts';
import { holdModelLock } from '../../runtime/model-folder/model-lock.ts';
import { startEngine } from '../app.ts';
import { cacheFolderOf } from '../configured-engine.ts';
import { readLearnedRows } from '../learned/learned-folder.ts';
import { writeLearnedFolder } from '../learned/write-learned-folder.ts';
import { placesOf } from '../pull/pulled-places.ts';
import { describeFindings } from './describe-findings.ts';
import { type FrozenDocuments, freezeDocuments } from './freeze-documents.ts';
import { findLearningModels, type LearningModels, requireUsableId } from './learning-models.ts';

export interface LearnSurroundings {
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly now: Date;
  readonly logger: Logger;
  tell(news: LearnNews): void;
  /** Nothing is written before it has ended, and nothing if it fails. */
  onReport(report: LearnReport): void | Promise<void>;
  /** Engines at work, for whoever must end the process in the middle of it. */
  readonly engines?: Set<LocalEngine>;
}

/** Documents under way for each core: the next one waits while one is read. */
const AT_ONCE_PER_CORE = 2;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** @throws LearnError, StartError, ModelBusyError; the signal's reason, and nothing is written then */
export async function learnModel(order: LearnOrder, around: LearnSurroundings): Promise<LearnOutcome> {
  const { config } = around;
  const documents = groupByDocument(order.rows);
  requireUsableId(order.id, config);
  // A trial leaves no trace.
  const lock = order.isTrial ? undefined : await holdModelLock(placesOf(config.dataDir, order.id).lock, order.id);
  try {
    return await learn({ order, documents, models: await findLearningModels(order, config) }, around);
  } finally {
    lock?.release();
  }
}

interface Learning {
  readonly order: LearnOrder;
  readonly documents: readonly RowDocument[];
  readonly models: LearningModels;
}

async function learn(learning: Learning, around: LearnSurroundings): Promise<LearnOutcome> {
  const { order, models } = learning;
  const earlier = models.former === undefined ? [] : await readLearnedRows(models.former.path);
  requireRoom(learning, earlier);
  const known = renameEarlier(earlier, learning, around);
  const frozen = await readDocuments(learning, around);
  const joined = joinRows(known, frozen.questions);
  const found = await fitHeads(
    joined.questions.filter((question) => joined.touched.has(question)),
    frozen,
    around,
  );
  const report: LearnReport = {
    id: order.id,
    base: models.model.base,
    embedder: models.model.embedder,
    rows: order.rows.length - new Set(frozen.leftOut.map(({ line }) => line)).size,
    leftOut: frozen.leftOut,
    replacedAnswers: joined.replacedAnswers,
    questions: describeFindings(found, learning.documents, joined.questions),
    untouched: joined.questions.length - joined.touched.size,
  };
  await around.onReport(report);
  around.signal.throwIfAborted();
  const learned = found.flatMap((one) => one.learned ?? []);
  if (order.isTrial || learned.length === 0) return { report, written: undefined };
  const untouched = keepUntouched(models, joined);
  const model: LearnedModel = {
    ...models.model,
    dimensions: frozen.vectorParts.reduce((total, part) => total + part, 0),
    questions: [...untouched, ...learned],
  };
  around.tell({ kind: 'step', step: 'writing', done: 0, total: 1 });
  const { dataDir } = around.config;
  const folder = await writeLearnedFolder({
    dataDir,
    model,
    rows: joined.questions,
    base: models.base.manifest,
    now: around.now,
  });
  return { report, written: { folder: folder.path, digest: folder.digest } };
}

/** @throws LearnError */
function requireRoom({ documents }: Learning, earlier: readonly FrozenQuestion[]): void {
  const fresh = documents.reduce((total, { answers }) => total + answers.length, 0);
  const known = earlier.reduce((total, { rows }) => total + rows.length, 0);
  if (fresh + known <= MOST_ANSWERS) return;
  const together = known === 0 ? '' : ` with the ${describeCount(known)} learned earlier`;
  throw new LearnError(
    'too_many_rows',
    `There are ${describeCount(fresh)} answers${together}; a model is learned from ${describeCount(MOST_ANSWERS)} at most. Some hundred of each option say nearly all: take a part of them.`,
  );
}

function renameEarlier(
  earlier: readonly FrozenQuestion[],
  { order, documents }: Learning,
  { tell }: LearnSurroundings,
): readonly FrozenQuestion[] {
  const asked = new Set(documents.flatMap(({ answers }) => answers.map((answer) => answer.asked.question)));
  const choices = [...asked].filter((question) => question.type === 'choice');
  for (const { to } of order.renames) {
    if (choices.some(({ options }) => options.some(({ name }) => name === to))) continue;
    throw new LearnError('invalid_rows', `No choice of the rows has the option ${JSON.stringify(to)} of --rename.`);
  }
  const { questions, done } = renameOptions(earlier, choices, order.renames);
  for (const rename of earlier.length === 0 ? [] : order.renames) {
    if (done.has(rename)) continue;
    tell({ kind: 'warning', text: `Nothing learned earlier has the option ${JSON.stringify(rename.from)}.` });
  }
  return questions;
}

async function readDocuments({ documents, models }: Learning, around: LearnSurroundings): Promise<FrozenDocuments> {
  const { signal, engines, config } = around;
  const total = documents.length;
  around.tell({ kind: 'step', step: 'starting', done: 0, total: 1 });
  const engine = await startLearningEngine(models, around);
  engines?.add(engine);
  try {
    await engine.ready;
    signal.throwIfAborted();
    const workers = engine.status().workers || availableParallelism();
    const frozen = await freezeDocuments(documents, {
      engine,
      models: { baseId: models.model.base.id, hasVector: models.hasVector, embedderId: models.model.embedder?.id },
      caller: { keyId: 'key_local', signal },
      atOnce: AT_ONCE_PER_CORE * (config.engine.workers ?? workers),
      onProgress: (done) => around.tell({ kind: 'step', step: 'reading', done, total }),
    });
    if (frozen.questions.length > 0) return frozen;
    throw new LearnError('invalid_rows', 'The base can read none of the rows:', frozen.leftOut);
  } finally {
    await engine.drain();
    engines?.delete(engine);
  }
}

/** Nobody else is there who would have to wait. */
async function startLearningEngine({ base, embedder }: LearningModels, around: LearnSurroundings) {
  const { config, logger } = around;
  const engine = { ...config.engine, queueMaxCostMs: Number.MAX_SAFE_INTEGER, queueDeadlineMs: LONGEST_TIMER_MS };
  const folders = [base.path, ...(embedder === undefined ? [] : [embedder.path])];
  // A trial should not leave a data folder behind wherever it is run.
  const keepsGraphs = config.engine.cacheDir !== undefined || existsSync(config.dataDir);
  const cacheFolder = keepsGraphs ? cacheFolderOf(config) : undefined;
  return await startEngine({ ...config, engine, models: folders }, { folders, logger, cacheFolder });
}

async function fitHeads(
  questions: readonly FrozenQuestion[],
  { vectorParts: parts }: FrozenDocuments,
  { signal, tell }: LearnSurroundings,
): Promise<readonly QuestionReport[]> {
  const reports: QuestionReport[] = [];
  for (const [place, question] of questions.entries()) {
    // Each question counts as a hundred steps, however many fits it takes.
    const onProgress = (done: number, total: number): void => {
      const share = Math.floor((100 * done) / Math.max(1, total));
      tell({ kind: 'step', step: 'fitting', done: 100 * place + share, total: 100 * questions.length });
    };
    reports.push(await learnQuestion(question, { parts, onProgress, signal }));
    signal.throwIfAborted();
  }
  return reports;
}

/** Heads of questions that no new row asks. */
function keepUntouched(
  { former }: LearningModels,
  { questions, touched }: ReturnType<typeof joinRows>,
): readonly LearnedQuestion[] {
  const keyOf = (type: string, asked: string, options: readonly string[]): string => [type, asked, ...options].join();
  const kept = new Set(
    questions
      .filter((question) => !touched.has(question))
      .map((question) => keyOf(question.type, question.asked, optionsOfHead(question))),
  );
  return (former?.model.questions ?? []).filter(({ type, asked, options }) => kept.has(keyOf(type, asked, options)));
}

/** Of a choice, a head has only the options that have rows. */
function optionsOfHead({ type, options, rows }: FrozenQuestion): readonly string[] {
  if (type !== 'choice') return options;
  return options.filter((_, place) => rows.some(({ target }) => (target[place] ?? 0) > 0));
}
