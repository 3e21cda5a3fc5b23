// The result of the quality bench: its tables in Markdown and the three files in bench/results.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { mean } from '../../src/quality/figures.ts';
import { columns, markdownTable, tableOf } from '../pages/table.ts';
import type { QualityReport } from './measure-quality.ts';
import { drawReliability } from './reliability-diagram.ts';

type TaskQuality = QualityReport['tasks'][number];

/** @returns the files written */
export function writeReport(report: QualityReport, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const files = listQualityFiles(report);
  for (const [file, content] of files) writeFileSync(join(folder, file), content);
  return [...files.keys()].map((file) => join(folder, file));
}

/** @returns what they hold, by their names: the figures compressed, page and diagram as text */
export function listQualityFiles(report: QualityReport): ReadonlyMap<string, string | Uint8Array> {
  const name = `quality-${report.model.id}`;
  return new Map<string, string | Uint8Array>([
    [`${name}.json.gz`, gzipSync(JSON.stringify(report), { level: 9 })],
    [`${name}.md`, `${formatReport(report)}\n![Reliability](${name}.svg)\n`],
    [`${name}.svg`, drawReliability(report.model.id, report.reliability)],
  ]);
}

/** Markdown, readable in a terminal as well. */
export function formatReport(report: QualityReport): string {
  const { model, baseline, rowsPerTask, trainingRowsPerTask } = report;
  const head = `${model.digest}, ${report.device}, ${report.cpu ?? 'unknown CPU'}; commit ${report.versions.commit ?? 'unknown'}${report.versions.isDirty ? ' with changes' : ''}`;
  const training =
    trainingRowsPerTask > 0 ? ` and ${trainingRowsPerTask} rows of every training task, half of the weight each` : '';
  const blocks = [
    `# Quality of \`${model.id}\` on tasks it was never trained on`,
    `${head}, ${report.startedAt.slice(0, 10)}.`,
    `\`npm run bench:quality\`: the first ${rowsPerTask} rows of every task through the server's engine. Baseline: cosine of \`${baseline.id}\` vectors, ` +
      `${baseline.digest}, scale ${baseline.scale}; ${baseline.template}.`,
    ...taskBlocks(report),
    `ECE cross-fitted: temperatures fitted without the task, on the other held-out tasks${training}; ` +
      'tasks weigh the same. A type that no other task has stays at 1. Order instability: largest change of a probability when options stand in another order.',
    breakdownTable('byStateTokens', report),
    breakdownTable('byOptions', report),
    ...longEvidenceBlocks(report.longEvidence),
    ...readingBlocks(report.reading),
  ];
  return `${blocks.join('\n\n')}\n`;
}

type FigureOf = (task: TaskQuality) => number;

function taskBlocks({ tasks, model, baseline }: QualityReport): string[] {
  // Two columns of one name stand beside each other: the baseline follows the model.
  const figures: readonly (readonly [heading: string, figureOf: FigureOf])[] = [
    ['accuracy', (task) => task.model.accuracy],
    [baseline.id, (task) => task.baseline.accuracy],
    ['macro-F1', (task) => task.model.macroF1],
    [baseline.id, (task) => task.baseline.macroF1],
    ['NLL', (task) => task.model.nll],
    ['ECE', (task) => task.model.ece],
    ['ECE cross-fitted', (task) => task.crossFitted.ece],
    ['answered at 5 % error', (task) => task.model.answeredAt5],
    [baseline.id, (task) => task.baseline.answeredAt5],
  ];
  const rows = tasks.map((task) => [
    ...[task.task, String(task.model.questions), ...figures.map(([, figureOf]) => formatFigure(figureOf(task)))],
    `${task.order.largestShift} (${task.order.questions})`,
  ]);
  const means = figures.map(([, figureOf]) => mean(tasks.map(figureOf)));
  const largest = Math.max(...tasks.map(({ order }) => order.largestShift));
  const gain = 100 * ((means[0] ?? Number.NaN) - (means[1] ?? Number.NaN));
  return [
    markdownTable([
      ['task', 'questions', ...figures.map(([heading]) => heading), 'order instability'],
      ...rows,
      ['mean over tasks', '', ...means.map(formatFigure), String(largest)],
    ]),
    `Mean accuracy of \`${model.id}\` over that of \`${baseline.id}\`: ${gain.toFixed(1)} points.`,
  ];
}

function breakdownTable(heading: 'byStateTokens' | 'byOptions', report: QualityReport): string {
  const { model, baseline } = report[heading];
  const baselineOf = (interval: string) => baseline.find((row) => row.interval === interval)?.accuracy ?? Number.NaN;
  return tableOf(model, {
    [heading === 'byOptions' ? 'options' : 'tokens of the state']: ({ interval }) => interval,
    ...columns('questions'),
    [report.model.id]: ({ accuracy }) => formatFigure(accuracy),
    [report.baseline.id]: ({ interval }) => formatFigure(baselineOf(interval)),
  });
}

function longEvidenceBlocks(entries: QualityReport['longEvidence']): string[] {
  if (entries.length === 0) return [];
  return [
    'The same questions, their evidence alone and in the middle of unrelated texts:',
    tableOf(entries, {
      evidence: ({ task }) => task,
      ...columns('questions'),
      'tokens of the document': ({ documentTokens }) => documentTokens.toFixed(0),
      alone: ({ aloneAccuracy }) => formatFigure(aloneAccuracy),
      'in the middle': ({ middleAccuracy }) => formatFigure(middleAccuracy),
      points: ({ aloneAccuracy, middleAccuracy }) => (100 * (middleAccuracy - aloneAccuracy)).toFixed(1),
    }),
  ];
}

function readingBlocks(reading: QualityReport['reading']): string[] {
  if (reading === undefined) return [];
  const { development, sentiment, scope, written, pairs, swapped, wordings } = reading;
  const shares = {
    ...development,
    'five levels of sentiment, exact': { questions: sentiment.questions, share: sentiment.exact },
    'out of scope, found': scope.outside,
    'in scope, kept': scope.inside,
    ...Object.fromEntries(Object.entries(written).map(([type, share]) => [`written documents, ${type}`, share])),
    'pairs that one edit tells apart, both sides': pairs,
  };
  return [
    'Rows and documents that training never sees:',
    tableOf(
      Object.entries(shares).map(([name, share]) => ({ name, ...share })),
      {
        'what only reading answers': ({ name }) => name,
        ...columns('questions'),
        'share right': ({ share }) => formatFigure(share),
      },
    ),
    `Mean distance of the likeliest level from the right one, five levels of sentiment: ${sentiment.levelsAway.toFixed(2)}.`,
    tableOf(swapped, {
      choices: ({ of }) => of,
      ...columns('questions'),
      'own instructions': ({ own }) => formatFigure(own),
      "another question's": ({ foreign }) => formatFigure(foreign),
      chance: ({ chance }) => formatFigure(chance),
    }),
    tableOf(wordings, {
      'the same rows in other words': ({ task }) => task,
      ...columns('questions'),
      'accuracy by wording': ({ accuracies }) => accuracies.map(formatFigure).join(' '),
      spread: ({ spread }) => formatFigure(spread),
    }),
  ];
}

/** Three decimals; a figure of nothing is a dash. */
function formatFigure(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(3);
}
