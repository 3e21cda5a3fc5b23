// Everything that the quality bench measures, in one object, which is its result: the judged model over held-out tasks beside the
// cosine baseline, how sure it is and how right, long documents, reading.

import { answerRows, measureOrderInstability, type OrderInstability } from '../../src/quality/asking.ts';
import { accuracyByOptions, accuracyByStateTokens } from '../../src/quality/breakdown.ts';
import { measureFigures, reliabilityBins, toGuesses } from '../../src/quality/figures.ts';
import { type LabelledAnswer, probabilitiesOf } from '../../src/quality/labelled-answer.ts';
import { type CrossFit, crossFitTasks, fitTemperatures } from '../../src/quality/temperature-fit.ts';
import { describeMachine, describeVersions } from '../machine/machine.ts';
import { answerByCosine, COSINE_SCALE, COSINE_TEMPLATE } from './cosine-baseline.ts';
import { type DecisionTask, readHeldoutTasks, readTrainingTasks } from './decision-tasks.ts';
import type { JudgedModels } from './judged-models.ts';
import { measureLongEvidence } from './long-evidence.ts';
import { measureReading } from './reading.ts';

export interface QualityOptions {
  readonly data: string;
  /** Of every held-out task. */
  readonly rows: number;
  /** Of every training task: for temperatures alone. */
  readonly trainingRows: number;
  /** Of every held-out task, asked again in other orders. */
  readonly orderRows: number;
  /** Of each task whose evidence is put into a long document. */
  readonly longRows: number;
  /** Of each task that only reading answers; the written documents are asked whole. */
  readonly readingRows: number;
  readonly say: (text: string) => void;
}

export type QualityReport = Awaited<ReturnType<typeof measureQuality>>;
type Answered = Awaited<ReturnType<typeof answerAll>>;

export async function measureQuality(models: JudgedModels, options: QualityOptions) {
  const { data, rows: rowsPerTask, trainingRows: trainingRowsPerTask, say } = options;
  const startedAt = new Date().toISOString();
  const tasks = readHeldoutTasks(data, rowsPerTask);
  const answered = await answerAll(models, tasks, options);
  const { training, heldout, baseline: byCosine } = answered;
  const { decision, baseline, device } = models;
  say('evidence in long documents');
  const longEvidence = await measureLongEvidence(tasks, decision.asked, options.longRows);
  say('reading');
  const reading = await measureReading(data, decision.asked, options.readingRows);
  const heldoutNames = new Set(tasks.map(({ name }) => name));
  const all = [...training, ...heldout];
  const crossFits = crossFitTasks(all, heldoutNames);
  const { temperatures } = decision.asked;
  return {
    format: 1 as const,
    startedAt,
    versions: describeVersions(),
    cpu: describeMachine().cpu,
    device,
    model: { id: decision.id, digest: decision.digest },
    baseline: { ...baseline, template: COSINE_TEMPLATE, scale: COSINE_SCALE },
    rowsPerTask,
    /** Rows of each training task that temperatures were fitted on beside the held-out tasks. */
    trainingRowsPerTask,
    tasks: tasks.map(({ name }) => judgeTask(name, answered, { temperatures, crossFit: crossFits.get(name) })),
    byStateTokens: { model: accuracyByStateTokens(heldout), baseline: accuracyByStateTokens(byCosine) },
    byOptions: { model: accuracyByOptions(heldout), baseline: accuracyByOptions(byCosine) },
    /** All questions, with the temperatures of the manifest, and fitted without the question's task. */
    reliability: {
      manifest: binsOf(heldout, () => temperatures),
      crossFitted: binsOf(heldout, ({ task }) => crossFits.get(task)?.temperatures ?? {}),
    },
    longEvidence,
    reading,
    temperatures: { manifest: temperatures, fittedOnAll: fitTemperatures(all, heldoutNames) },
  };
}

async function answerAll(models: JudgedModels, tasks: readonly DecisionTask[], options: QualityOptions) {
  const { asked } = models.decision;
  const ask = async ({ name, rows }: DecisionTask): Promise<readonly LabelledAnswer[]> => {
    options.say(name);
    const { answers, refusals } = await answerRows(rows, asked);
    const [refused] = refusals;
    if (refused !== undefined) throw new Error(`${name}, line ${refused.line}: ${refused.message}`);
    return answers;
  };
  const [training, heldout, baseline] = [[] as LabelledAnswer[], [] as LabelledAnswer[], [] as LabelledAnswer[]];
  const order = new Map<string, OrderInstability>();
  for (const task of readTrainingTasks(options.data, options.trainingRows)) training.push(...(await ask(task)));
  for (const task of tasks) {
    heldout.push(...(await ask(task)));
    order.set(task.name, await measureOrderInstability(task.rows.slice(0, options.orderRows), asked));
    baseline.push(...(await answerByCosine(task.rows, models.embed, asked.countTokens)));
  }
  return { training, heldout, baseline, order };
}

type Temperatures = CrossFit['temperatures'];

interface Judgement {
  readonly temperatures: Temperatures;
  readonly crossFit: CrossFit | undefined;
}

function judgeTask(task: string, answered: Answered, { temperatures, crossFit }: Judgement) {
  const own = (answers: readonly LabelledAnswer[]) => answers.filter((answer) => answer.task === task);
  const brief = ({ nll, ece } = measureFigures([])) => ({ nll, ece });
  return {
    task,
    /** With the temperatures of the manifest. */
    model: measureFigures(own(answered.heldout), temperatures),
    /** With temperatures fitted on every other task; the choices are the same. */
    crossFitted: brief(crossFit?.after),
    /** At temperature 1. */
    untempered: brief(crossFit?.before),
    order: answered.order.get(task) ?? { questions: 0, largestShift: 0 },
    baseline: measureFigures(own(answered.baseline)),
  };
}

function binsOf(answers: readonly LabelledAnswer[], temperaturesOf: (answer: LabelledAnswer) => Temperatures) {
  const probabilities = answers.map((answer) => probabilitiesOf(answer, temperaturesOf(answer)));
  return reliabilityBins(toGuesses(answers, probabilities));
}
