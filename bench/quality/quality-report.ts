// The result of the quality bench: its shape, its tables in Markdown, and the three files in bench/results.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OrderInstability } from '../../src/quality/asking.ts';
import type { BreakdownRow } from '../../src/quality/breakdown.ts';
import { type Figures, mean, type ReliabilityBin } from '../../src/quality/figures.ts';
import type { Versions } from '../machine/machine.ts';
import type { ModelIdentity } from './judged-models.ts';
import type { LongEvidence } from './long-evidence.ts';
import type { ReadingFigures, Share } from './reading.ts';
import { drawReliability } from './reliability-diagram.ts';

export interface TaskQuality {
  readonly task: string;
  /** With the temperatures of the manifest. */
  readonly model: Figures;
  /** With temperatures fitted on every other task; the choices are the same. */
  readonly crossFitted: { readonly nll: number; readonly ece: number };
  /** At temperature 1. */
  readonly untempered: { readonly nll: number; readonly ece: number };
  readonly order: OrderInstability;
  readonly baseline: Figures;
}

export interface ComparedBreakdown {
  readonly model: readonly BreakdownRow[];
  readonly baseline: readonly BreakdownRow[];
}

export interface QualityReport {
  readonly format: 1;
  readonly startedAt: string;
  readonly versions: Versions;
  readonly cpu: string | null;
  readonly device: string;
  readonly model: ModelIdentity;
  readonly baseline: ModelIdentity & { readonly template: string; readonly scale: number };
  readonly rowsPerTask: number;
  /** Rows of each training task that temperatures were fitted on beside the held-out tasks. */
  readonly trainingRowsPerTask: number;
  readonly tasks: readonly TaskQuality[];
  readonly byStateTokens: ComparedBreakdown;
  readonly byOptions: ComparedBreakdown;
  /** All questions, with the temperatures of the manifest, and fitted without the question's task. */
  readonly reliability: {
    readonly manifest: readonly ReliabilityBin[];
    readonly crossFitted: readonly ReliabilityBin[];
  };
  readonly longEvidence: readonly LongEvidence[];
  /** undefined where the development data is not at hand */
  readonly reading: ReadingFigures | undefined;
  readonly temperatures: { readonly manifest: object; readonly fittedOnAll: object };
}

/** @returns the files written */
export function writeReport(report: QualityReport, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const name = `quality-${report.model.id}`;
  const files = new Map([
    [`${name}.json`, `${JSON.stringify(report, null, 2)}\n`],
    [`${name}.md`, `${formatReport(report)}\n![Reliability](${name}.svg)\n`],
    [`${name}.svg`, drawReliability(report.model.id, report.reliability)],
  ]);
  for (const [file, content] of files) writeFileSync(join(folder, file), content);
  return [...files.keys()].map((file) => join(folder, file));
}

/** Markdown, readable in a terminal as well. */
export function formatReport(report: QualityReport): string {
  const { model, baseline, rowsPerTask, trainingRowsPerTask, longEvidence, reading } = report;
  return [
    `# Quality of \`${model.id}\` on tasks it was never trained on\n`,
    `${model.digest}, ${report.device}, ${report.cpu ?? 'unknown CPU'}; commit ${report.versions.commit ?? 'unknown'}${report.versions.isDirty ? ' with changes' : ''}, ${report.startedAt.slice(0, 10)}.\n`,
    `\`npm run bench:quality\`: the first ${rowsPerTask} rows of every task through the server's engine. Baseline: cosine of \`${baseline.id}\` vectors, ` +
      `${baseline.digest}, scale ${baseline.scale}; ${baseline.template}.\n`,
    taskTable(report),
    `ECE cross-fitted: temperatures fitted without the task, on the other held-out tasks${trainingRowsPerTask > 0 ? ` and ${trainingRowsPerTask} rows of every training task, half of the weight each` : ''}; ` +
      'tasks weigh the same. A type that no other task has stays at 1. Order instability: largest change of a probability when options stand in another order.\n',
    breakdownTable('tokens of the state', report.byStateTokens, report),
    breakdownTable('options', report.byOptions, report),
    ...(longEvidence.length > 0 ? [longEvidenceTable(longEvidence)] : []),
    ...(reading === undefined ? [] : [readingTables(reading)]),
  ].join('\n');
}

function taskTable({ tasks, model, baseline }: QualityReport): string {
  const heading = [
    'task',
    'questions',
    'accuracy',
    baseline.id,
    'macro-F1',
    baseline.id,
    'NLL',
    'ECE',
    'ECE cross-fitted',
    'answered at 5 % error',
    baseline.id,
    'order instability',
  ];
  const rows = tasks.map((task) => [
    task.task,
    String(task.model.questions),
    ...figureCells(task),
    `${task.order.largestShift} (${task.order.questions})`,
  ]);
  const means = Array.from({ length: FIGURES_SHOWN.length }, (_, at) =>
    mean(tasks.map((task) => FIGURES_SHOWN[at]?.(task) ?? Number.NaN)),
  );
  const gain = 100 * ((means[0] ?? Number.NaN) - (means[1] ?? Number.NaN));
  const largest = Math.max(...tasks.map(({ order }) => order.largestShift));
  const last = ['mean over tasks', '', ...means.map(threeDecimals), String(largest)];
  const sentence = `Mean accuracy of \`${model.id}\` over that of \`${baseline.id}\`: ${gain.toFixed(1)} points.\n`;
  return `${markdownTable([heading, ...rows, last])}\n${sentence}`;
}

const FIGURES_SHOWN: readonly ((task: TaskQuality) => number)[] = [
  ({ model }) => model.accuracy,
  ({ baseline }) => baseline.accuracy,
  ({ model }) => model.macroF1,
  ({ baseline }) => baseline.macroF1,
  ({ model }) => model.nll,
  ({ model }) => model.ece,
  ({ crossFitted }) => crossFitted.ece,
  ({ model }) => model.answeredAt5,
  ({ baseline }) => baseline.answeredAt5,
];

function figureCells(task: TaskQuality): string[] {
  return FIGURES_SHOWN.map((figureOf) => threeDecimals(figureOf(task)));
}

function breakdownTable(
  title: string,
  { model, baseline }: ComparedBreakdown,
  names: Pick<QualityReport, 'model' | 'baseline'>,
): string {
  const rows = model.map(({ interval, questions, accuracy }) => {
    const other = baseline.find((row) => row.interval === interval);
    return [interval, String(questions), threeDecimals(accuracy), threeDecimals(other?.accuracy ?? Number.NaN)];
  });
  return markdownTable([[title, 'questions', names.model.id, names.baseline.id], ...rows]);
}

function longEvidenceTable(entries: readonly LongEvidence[]): string {
  const rows = entries.map(({ task, questions, documentTokens, aloneAccuracy, middleAccuracy }) => [
    task,
    String(questions),
    documentTokens.toFixed(0),
    threeDecimals(aloneAccuracy),
    threeDecimals(middleAccuracy),
    (100 * (middleAccuracy - aloneAccuracy)).toFixed(1),
  ]);
  const heading = ['evidence', 'questions', 'tokens of the document', 'alone', 'in the middle', 'points'];
  return `The same questions, their evidence alone and in the middle of unrelated texts:\n\n${markdownTable([heading, ...rows])}`;
}

function readingTables({ development, sentiment, scope, written, pairs, swapped, wordings }: ReadingFigures): string {
  const line = (name: string, { questions, share }: Share) => [name, String(questions), threeDecimals(share)];
  const single = [
    ['what only reading answers', 'questions', 'share right'],
    ...Object.entries(development).map(([name, share]) => line(name, share)),
    line('five levels of sentiment, exact', { questions: sentiment.questions, share: sentiment.exact }),
    line('out of scope, found', scope.outside),
    line('in scope, kept', scope.inside),
    ...Object.entries(written).map(([type, share]) => line(`written documents, ${type}`, share)),
    line('pairs that one edit tells apart, both sides', pairs),
  ];
  const swaps = swapped.map(({ of, questions, own, foreign, chance }) => [
    of,
    String(questions),
    ...[own, foreign, chance].map(threeDecimals),
  ]);
  const words = wordings.map(({ task, questions, accuracies, spread }) => [
    task,
    String(questions),
    accuracies.map(threeDecimals).join(' '),
    threeDecimals(spread),
  ]);
  return [
    'Rows and documents that training never sees:\n',
    markdownTable(single),
    `Mean distance of the likeliest level from the right one, five levels of sentiment: ${sentiment.levelsAway.toFixed(2)}.\n`,
    markdownTable([['choices', 'questions', 'own instructions', "another question's", 'chance'], ...swaps]),
    markdownTable([['the same rows in other words', 'questions', 'accuracy by wording', 'spread'], ...words]),
  ].join('\n');
}

/** @param rows the first is the heading */
function markdownTable(rows: readonly (readonly string[])[]): string {
  const lines = rows.map((row) => `| ${row.join(' | ')} |`);
  const rule = `|${'---|'.repeat(rows[0]?.length ?? 0)}`;
  return `${[lines[0], rule, ...lines.slice(1)].join('\n')}\n`;
}

function threeDecimals(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(3);
}
