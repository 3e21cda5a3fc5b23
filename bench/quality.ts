// The quality bench: the released model through the server's engine over tasks it was never trained on, beside the
// cosine baseline. Prints tables and writes bench/results/quality-<model>.{json,md,svg}. It times nothing.
// npm run bench:quality -- [--data DIR] [--rows 250] [--training-rows 60] [--order-rows 50] [--long-rows 50] [--reading-rows 100] [--model DIR] [--out DIR]

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { answerRows, measureOrderInstability, type OrderInstability } from '../src/quality/asking.ts';
import { accuracyByOptions, accuracyByStateTokens } from '../src/quality/breakdown.ts';
import { measureFigures, reliabilityBins, toGuesses } from '../src/quality/figures.ts';
import { type LabelledAnswer, probabilitiesOf } from '../src/quality/labelled-answer.ts';
import { type CrossFit, crossFitTasks, fitTemperatures } from '../src/quality/temperature-fit.ts';
import { describeMachine, describeVersions, ROOT } from './machine/machine.ts';
import { answerByCosine, COSINE_SCALE, COSINE_TEMPLATE } from './quality/cosine-baseline.ts';
import { type DecisionTask, readHeldoutTasks, readTrainingTasks } from './quality/decision-tasks.ts';
import { type JudgedModels, withModels } from './quality/judged-models.ts';
import { measureLongEvidence } from './quality/long-evidence.ts';
import { formatReport, type QualityReport, type TaskQuality, writeReport } from './quality/quality-report.ts';
import { measureReading } from './quality/reading.ts';

type QualityOptions = NonNullable<ReturnType<typeof readOptions>>;

/** undefined: nobody says where the data is */
function readOptions() {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      model: { type: 'string' },
      out: { type: 'string', default: join(ROOT, 'bench', 'results') },
      rows: { type: 'string', default: '250' },
      'training-rows': { type: 'string', default: '60' },
      'order-rows': { type: 'string', default: '50' },
      'long-rows': { type: 'string', default: '50' },
      'reading-rows': { type: 'string', default: '100' },
    },
  });
  const { data = process.env['UMPIRE_DATA'], model, out } = values;
  if (!data) return undefined;
  const rows = toCount(values.rows);
  const upTo = (text: string) => Math.min(rows, toCount(text));
  return {
    data,
    model,
    out,
    /** Of every held-out task. */
    rows,
    /** Of every training task: for temperatures alone. */
    trainingRows: upTo(values['training-rows']),
    /** Of every held-out task, asked again in other orders. */
    orderRows: upTo(values['order-rows']),
    /** Of each task whose evidence is put into a long document. */
    longRows: upTo(values['long-rows']),
    /** Of each task that only reading answers; the written documents are asked whole. */
    readingRows: upTo(values['reading-rows']),
  };
}

function toCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`"${text}" is not a number of rows.`);
  return Number(text);
}

interface Answered {
  readonly training: readonly LabelledAnswer[];
  readonly heldout: readonly LabelledAnswer[];
  readonly baseline: readonly LabelledAnswer[];
  readonly order: ReadonlyMap<string, OrderInstability>;
}

async function measure(models: JudgedModels, options: QualityOptions): Promise<QualityReport> {
  const startedAt = new Date().toISOString();
  const tasks = readHeldoutTasks(options.data, options.rows);
  const answered = await answerAll(models, tasks, options);
  say('evidence in long documents');
  const { decision, baseline } = models;
  const longEvidence = await measureLongEvidence(tasks, decision.asked, options.longRows);
  say('reading');
  const reading = await measureReading(options.data, decision.asked, options.readingRows);
  const heldoutNames = new Set(tasks.map(({ name }) => name));
  const all = [...answered.training, ...answered.heldout];
  const crossFits = crossFitTasks(all, heldoutNames);
  return {
    format: 1,
    startedAt,
    versions: describeVersions(),
    cpu: describeMachine().cpu,
    device: models.device,
    model: { id: decision.id, digest: decision.digest },
    baseline: { ...baseline, template: COSINE_TEMPLATE, scale: COSINE_SCALE },
    rowsPerTask: options.rows,
    trainingRowsPerTask: options.trainingRows,
    tasks: tasks.map(({ name }) => judgeTask(name, answered, { models, crossFit: crossFits.get(name) })),
    byStateTokens: {
      model: accuracyByStateTokens(answered.heldout),
      baseline: accuracyByStateTokens(answered.baseline),
    },
    byOptions: { model: accuracyByOptions(answered.heldout), baseline: accuracyByOptions(answered.baseline) },
    reliability: drawBins(answered.heldout, models, crossFits),
    longEvidence,
    reading,
    temperatures: { manifest: decision.asked.temperatures, fittedOnAll: fitTemperatures(all, heldoutNames) },
  };
}

async function answerAll(
  models: JudgedModels,
  tasks: readonly DecisionTask[],
  options: QualityOptions,
): Promise<Answered> {
  const { asked } = models.decision;
  const ask = async ({ name, rows }: DecisionTask): Promise<readonly LabelledAnswer[]> => {
    say(name);
    const { answers, refusals } = await answerRows(rows, asked);
    const [refused] = refusals;
    if (refused !== undefined) throw new Error(`${name}, line ${refused.line}: ${refused.message}`);
    return answers;
  };
  const training: LabelledAnswer[] = [];
  for (const task of readTrainingTasks(options.data, options.trainingRows)) training.push(...(await ask(task)));
  const heldout: LabelledAnswer[] = [];
  const baseline: LabelledAnswer[] = [];
  const order = new Map<string, OrderInstability>();
  for (const task of tasks) {
    heldout.push(...(await ask(task)));
    order.set(task.name, await measureOrderInstability(task.rows.slice(0, options.orderRows), asked));
    baseline.push(...(await answerByCosine(task.rows, models.embed, asked.countTokens)));
  }
  return { training, heldout, baseline, order };
}

interface Judgement {
  readonly models: JudgedModels;
  readonly crossFit: CrossFit | undefined;
}

function judgeTask(task: string, answered: Answered, { models, crossFit }: Judgement): TaskQuality {
  const own = (answers: readonly LabelledAnswer[]) => answers.filter((answer) => answer.task === task);
  const brief = (figures = measureFigures([])) => ({ nll: figures.nll, ece: figures.ece });
  return {
    task,
    model: measureFigures(own(answered.heldout), models.decision.asked.temperatures),
    crossFitted: brief(crossFit?.after),
    untempered: brief(crossFit?.before),
    order: answered.order.get(task) ?? { questions: 0, largestShift: 0 },
    baseline: measureFigures(own(answered.baseline)),
  };
}

function drawBins(
  answers: readonly LabelledAnswer[],
  models: JudgedModels,
  crossFits: ReadonlyMap<string, CrossFit>,
): QualityReport['reliability'] {
  const bins = (temperaturesOf: (answer: LabelledAnswer) => CrossFit['temperatures']) => {
    const probabilities = answers.map((answer) => probabilitiesOf(answer, temperaturesOf(answer)));
    return reliabilityBins(toGuesses(answers, probabilities));
  };
  return {
    manifest: bins(() => models.decision.asked.temperatures),
    crossFitted: bins(({ task }) => crossFits.get(task)?.temperatures ?? {}),
  };
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

const options = readOptions();
if (options === undefined) {
  say('No data: pass --data DIR or set UMPIRE_DATA to the folder with tasks.json, train/ and heldout/.');
  process.exitCode = 1;
} else {
  await withModels(options.model, async (models) => {
    const report = await measure(models, options);
    process.stdout.write(`${formatReport(report)}\n`);
    for (const file of writeReport(report, options.out)) say(`written: ${file}`);
  });
}
