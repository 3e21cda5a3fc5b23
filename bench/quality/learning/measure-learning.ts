// What labelled rows bring: heads fitted on 8 to 64 rows per option of every held-out task, judged on other rows, beside
// the zero-shot answer and beside logistic regression on the embedder's vectors alone.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { calibrationError, figuresOf, type Guess, mean, toGuesses } from '../../../src/quality/figures.ts';
import { describeMachine, describeVersions } from '../../machine/machine.ts';
import { readHeldoutTasks } from '../decision-tasks.ts';
import type { JudgedModels, ModelIdentity } from '../judged-models.ts';
import { ANSWERERS, type Answerer, answerTestRows, toAnswers } from './answer-test-rows.ts';
import { countRowsNeeded, type Draw, type DrawLimits, drawRows } from './draw-rows.ts';
import { type FrozenTask, freezeTask, nameFile } from './frozen-tasks.ts';
import { type HeldBackOption, measureHeldBackOptions } from './held-back-options.ts';
import { readLearningTasks } from './learning-tasks.ts';
import { type LearningPeer, readPeers } from './peers-file.ts';

export interface LearningOptions extends DrawLimits {
  readonly data: string;
  /** Tasks, by name. */
  readonly leftOut: readonly string[];
  /** Where rows, once read by the models, are kept, and where the scripts beside the bench leave their figures. */
  readonly folder: string;
  readonly say: (text: string) => void;
}

export interface LearningReport {
  readonly format: 1;
  readonly startedAt: string;
  readonly versions: ReturnType<typeof describeVersions>;
  readonly cpu: string | null;
  readonly base: ModelIdentity;
  readonly embedder: ModelIdentity;
  readonly limits: DrawLimits;
  /** Tasks that were not measured. */
  readonly leftOut: readonly string[];
  readonly tasks: readonly LearnedTask[];
  readonly peers: readonly LearningPeer[];
}

export interface LearnedTask {
  readonly task: string;
  readonly type: string;
  readonly options: number;
  readonly sizes: readonly LearnedSize[];
  readonly heldBack: readonly HeldBackOption[];
}

export interface LearnedSize {
  readonly rowsPerOption: number;
  readonly trainingRows: number;
  readonly testRows: number;
  readonly draws: number;
  readonly figures: Readonly<Record<Answerer, DrawFigures>>;
}

export interface DrawFigures {
  readonly accuracy: MeanAndSpread;
  readonly macroF1: MeanAndSpread;
  readonly nll: MeanAndSpread;
  /** Of each draw by itself: of a few hundred answers, which by chance alone is some hundredths. */
  readonly ece: MeanAndSpread;
  /** Of the answers of all draws together. */
  readonly pooledEce: number;
  readonly answeredAt5: MeanAndSpread;
  /** Share of draws in which a head answered. */
  readonly headShare: number;
  readonly ofDraws: readonly { readonly seed: number; readonly accuracy: number }[];
}

interface MeanAndSpread {
  readonly mean: number;
  /** Standard deviation between draws. */
  readonly spread: number;
}

/** Products of training rows and options above which two draws must do. */
const DEAR_ROWS = 10_000;
const DRAWS_WHERE_DEAR = 2;

export async function measureLearning(models: JudgedModels, options: LearningOptions): Promise<LearningReport> {
  const { data, say, seeds, trainingRows, testRows } = options;
  const startedAt = new Date().toISOString();
  const folder = join(
    options.folder,
    nameFile(`${models.decision.digest.slice(7, 19)}-${models.baseline.digest.slice(7, 19)}`),
  );
  const limits = { seeds, trainingRows, testRows };
  const heldout = readHeldoutTasks(data, Number.POSITIVE_INFINITY);
  const prepared: { readonly task: FrozenTask; readonly draws: readonly Draw[] }[] = [];
  for (const task of readLearningTasks(data, heldout)) {
    if (options.leftOut.includes(task.name)) continue;
    const frozen = await freezeTask(models, task, { folder, rows: countRowsNeeded(task.names.length, limits), say });
    const draws = drawRows({ rows: frozen.frozen.rows.length, options: task.names.length }, limits);
    prepared.push({ task: frozen, draws: draws.filter((draw) => isAffordable(draw, task.names.length)) });
  }
  writeDraws(folder, prepared);
  say(`rows and draws are in ${folder}`);
  const tasks: LearnedTask[] = [];
  for (const { task, draws } of prepared) tasks.push(await measureTask(task, draws, say));
  return {
    format: 1,
    startedAt,
    versions: describeVersions(),
    cpu: describeMachine().cpu,
    base: { id: models.decision.id, digest: models.decision.digest },
    embedder: models.baseline,
    limits,
    leftOut: options.leftOut,
    tasks,
    peers: readPeers(folder),
  };
}

function isAffordable({ training, seed }: Draw, options: number): boolean {
  return training.length * options <= DEAR_ROWS || seed <= DRAWS_WHERE_DEAR;
}

/** For scripts in other languages: the same rows to learn from, the same to judge by. */
function writeDraws(
  folder: string,
  prepared: readonly { readonly task: FrozenTask; readonly draws: readonly Draw[] }[],
): void {
  const tasks = prepared.map(({ task: { name, parts }, draws }) => ({
    task: name,
    file: `${nameFile(name)}.rows`,
    parts,
    draws,
  }));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'draws.json'), `${JSON.stringify({ tasks })}\n`);
}

async function measureTask(
  task: FrozenTask,
  draws: readonly Draw[],
  say: (text: string) => void,
): Promise<LearnedTask> {
  const { type, options } = task.frozen;
  const sizes: LearnedSize[] = [];
  for (const [rowsPerOption, own] of Map.groupBy(draws, (draw) => draw.rowsPerOption)) {
    say(`${task.name}: ${rowsPerOption} rows per option`);
    sizes.push(await measureSize(task, rowsPerOption, own));
  }
  say(`${task.name}: options held back`);
  return { task: task.name, type, options: options.length, sizes, heldBack: await measureHeldBackOptions(task, draws) };
}

type JudgedDraw = ReturnType<typeof judgeDraw>;

async function measureSize(task: FrozenTask, rowsPerOption: number, draws: readonly Draw[]): Promise<LearnedSize> {
  const judged: Record<Answerer, JudgedDraw[]> = { zeroShot: [], learned: [], learnedWithEmbedder: [], plain: [] };
  for (const draw of draws) {
    const pick = (places: readonly number[]) => places.flatMap((place) => task.frozen.rows[place] ?? []);
    const split = { training: pick(draw.training), test: pick(draw.test) };
    const answered = await answerTestRows(task, split);
    const answers = toAnswers(task.name, task.frozen, split.test);
    for (const answerer of ANSWERERS) judged[answerer].push(judgeDraw(draw, answers, answered[answerer]));
  }
  return {
    rowsPerOption,
    trainingRows: draws[0]?.training.length ?? 0,
    testRows: draws[0]?.test.length ?? 0,
    draws: draws.length,
    figures: {
      zeroShot: sumUp(judged.zeroShot),
      learned: sumUp(judged.learned),
      learnedWithEmbedder: sumUp(judged.learnedWithEmbedder),
      plain: sumUp(judged.plain),
    },
  };
}

function judgeDraw(
  { seed }: Draw,
  answers: ReturnType<typeof toAnswers>,
  { probabilities, isHead }: { readonly probabilities: readonly (readonly number[])[]; readonly isHead: boolean },
) {
  return { seed, figures: figuresOf(answers, probabilities), guesses: toGuesses(answers, probabilities), isHead };
}

function sumUp(draws: readonly JudgedDraw[]): DrawFigures {
  const of = (figureOf: (figures: JudgedDraw['figures']) => number) =>
    meanAndSpread(draws.map(({ figures }) => figureOf(figures)));
  return {
    accuracy: of(({ accuracy }) => accuracy),
    macroF1: of(({ macroF1 }) => macroF1),
    nll: of(({ nll }) => nll),
    ece: of(({ ece }) => ece),
    pooledEce: calibrationError(draws.flatMap(({ guesses }): readonly Guess[] => guesses)),
    answeredAt5: of(({ answeredAt5 }) => answeredAt5),
    headShare: mean(draws.map(({ isHead }) => Number(isHead))),
    ofDraws: draws.map(({ seed, figures: { accuracy } }) => ({ seed, accuracy })),
  };
}

function meanAndSpread(values: readonly number[]): MeanAndSpread {
  const middle = mean(values);
  return { mean: middle, spread: Math.sqrt(mean(values.map((value) => (value - middle) ** 2))) };
}
