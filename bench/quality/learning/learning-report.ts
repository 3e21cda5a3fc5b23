// The result of `bench:quality -- --learn`: its tables in Markdown, what of the targets is met, and the two files in
// bench/results.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { mean } from '../../../src/quality/figures.ts';
import { markdownTable, tableOf } from '../../pages/table.ts';
import { ANSWERERS, type Answerer } from './answer-test-rows.ts';
import { ROWS_PER_OPTION } from './draw-rows.ts';
import { type JudgedTarget, judgeLearningTargets } from './learning-targets.ts';
import type { DrawFigures, LearnedSize, LearningReport } from './measure-learning.ts';
import { comparePeer } from './peer-comparison.ts';

/** @returns the files written */
export function writeLearningReport(report: LearningReport, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const files = listLearningFiles(report);
  for (const [file, content] of files) writeFileSync(join(folder, file), content);
  return [...files.keys()].map((file) => join(folder, file));
}

/** @returns what they hold, by their names: the figures compressed, the page as text */
export function listLearningFiles(report: LearningReport): ReadonlyMap<string, string | Uint8Array> {
  const name = `learning-${report.base.id}`;
  return new Map<string, string | Uint8Array>([
    [`${name}.json.gz`, gzipSync(JSON.stringify(report), { level: 9 })],
    [`${name}.md`, formatLearningReport(report)],
  ]);
}

/** Markdown, readable in a terminal as well. */
export function formatLearningReport(report: LearningReport): string {
  const { base, embedder, limits, versions } = report;
  const commit = `${versions.commit ?? 'unknown'}${versions.isDirty ? ' with changes' : ''}`;
  const names = namesOf(report);
  const blocks = [
    `# What labelled rows bring to \`${base.id}\``,
    `${base.digest}; ${embedder.id} ${embedder.digest}; ${report.cpu ?? 'unknown CPU'}; commit ${commit}, ${report.startedAt.slice(0, 10)}.`,
    `\`npm run bench:quality -- --learn\`: questions of the held-out tasks, each in one wording. Rows are drawn in their natural proportion, rows per option × options of them, ` +
      `at most ${limits.trainingRows}; a head is fitted on them by the code of \`umpire learn\`, and up to ${limits.testRows} other rows are answered. ${limits.seeds} draws of each size ` +
      'unless the table says fewer. A head that is no better than zero-shot on its own rows, by cross-validation, is not used.',
    explain(names),
    ...(report.leftOut.length > 0 ? [`**Not measured: ${report.leftOut.join(', ')}.**`] : []),
    '## Targets',
    targetTable(judgeLearningTargets(report)),
    '## Mean over tasks',
    'A row is over the tasks that have enough rows for it.',
    ...meanTables(report, names),
    '## By task',
    'Accuracy, its standard deviation between draws behind ±; *heads*: in what share of the draws a head answered, without the embedder’s vector.',
    ...ROWS_PER_OPTION.map((size) => taskTable(report, size, names)).filter((table) => table !== ''),
    '## New options',
    newOptionTable(report),
    ...peerBlocks(report),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** Of tasks, where there are few of them. */
const MOST_NAMES = 4;

type Names = Readonly<Record<Answerer, string>>;

function namesOf({ embedder }: LearningReport): Names {
  return {
    zeroShot: 'zero-shot',
    learned: 'learned',
    learnedWithEmbedder: 'learned, `--embedder`',
    plain: `regression on ${embedder.id}`,
  };
}

function explain(names: Names): string {
  return (
    `*${names.zeroShot}*: the base as it is. *${names.learned}*: a head on what the base gives: the document’s vector and the question’s view of it. *${names.learnedWithEmbedder}*: on the embedder’s vector, too. ` +
    `*${names.plain}*: a head on the embedder’s vector alone, without what the base says. *ECE pooled*: over the answers of all draws of a task; ` +
    '*ECE by draw*: of each draw’s few hundred answers, of which chance alone makes some hundredths.'
  );
}

function targetTable(targets: readonly JudgedTarget[]): string {
  return tableOf(targets, {
    target: ({ target }) => target,
    learned: ({ learned }) => learned.text,
    '': ({ learned }) => (learned.isMet ? 'met' : '**missed**'),
    'learned, `--embedder`': ({ learnedWithEmbedder }) => learnedWithEmbedder.text,
    ' ': ({ learnedWithEmbedder }) => (learnedWithEmbedder.isMet ? 'met' : '**missed**'),
  });
}

function meanTables(report: LearningReport, names: Names): string[] {
  const measures: Readonly<Record<string, (figures: DrawFigures) => number>> = {
    accuracy: ({ accuracy }) => accuracy.mean,
    'macro-F1': ({ macroF1 }) => macroF1.mean,
    NLL: ({ nll }) => nll.mean,
    'ECE pooled': ({ pooledEce }) => pooledEce,
    'ECE by draw': ({ ece }) => ece.mean,
    'answered at 5 % error': ({ answeredAt5 }) => answeredAt5.mean,
  };
  return Object.entries(measures).map(([measure, figureOf]) =>
    markdownTable([
      [measure, 'tasks', ...ANSWERERS.map((answerer) => names[answerer])],
      ...ROWS_PER_OPTION.map((size) => {
        const sizes = sizesOf(report, size).map(({ size: found }) => found);
        return [
          `${size} rows per option`,
          String(sizes.length),
          ...ANSWERERS.map((answerer) => formatFigure(mean(sizes.map(({ figures }) => figureOf(figures[answerer]))))),
        ];
      }),
    ]),
  );
}

/** Of the tasks that have so many rows. */
function sizesOf(
  report: LearningReport,
  rowsPerOption: number,
): { readonly task: string; readonly options: number; readonly size: LearnedSize }[] {
  return report.tasks.flatMap(({ task, options, sizes }) => {
    const size = sizes.find((found) => found.rowsPerOption === rowsPerOption);
    return size === undefined ? [] : [{ task, options, size }];
  });
}

function taskTable(report: LearningReport, rowsPerOption: number, names: Names): string {
  const rows = sizesOf(report, rowsPerOption);
  if (rows.length === 0) return '';
  const accuracy = ({ accuracy: { mean: middle, spread } }: DrawFigures) =>
    `${formatFigure(middle)} ± ${formatFigure(spread)}`;
  return tableOf(rows, {
    [`${rowsPerOption} rows per option`]: ({ task }) => task,
    options: ({ options }) => String(options),
    rows: ({ size }) => String(size.trainingRows),
    judged: ({ size }) => String(size.testRows),
    draws: ({ size }) => String(size.draws),
    ...Object.fromEntries(
      ANSWERERS.map((answerer) => [
        names[answerer],
        ({ size }: (typeof rows)[number]) => accuracy(size.figures[answerer]),
      ]),
    ),
    heads: ({ size }) => formatFigure(size.figures.learned.headShare),
    'ECE pooled': ({ size }) => formatFigure(size.figures.learned.pooledEce),
    '`--embedder`': ({ size }) => formatFigure(size.figures.learnedWithEmbedder.pooledEce),
  });
}

function newOptionTable(report: LearningReport): string {
  const tasks = report.tasks.filter(({ heldBack }) => heldBack.length > 0);
  const over = tasks.map(({ task, heldBack }) => {
    const of = (figureOf: (option: (typeof heldBack)[number]) => number) =>
      mean(heldBack.map(figureOf).filter((value) => !Number.isNaN(value)));
    return { task, options: heldBack.length, of };
  });
  const table = tableOf(over, {
    task: ({ task }) => task,
    'options held back': ({ options }) => String(options),
    'is right': ({ of }) => formatFigure(of(({ share }) => share)),
    'chosen by zero-shot': ({ of }) => formatFigure(of(({ zeroShot }) => zeroShot.chosen)),
    'held back': ({ of }) => formatFigure(of(({ heldBack }) => heldBack.chosen)),
    'recall of zero-shot': ({ of }) => formatFigure(of(({ zeroShot }) => zeroShot.recall)),
    'recall, held back': ({ of }) => formatFigure(of(({ heldBack }) => heldBack.recall)),
    'recall, learned': ({ of }) => formatFigure(of(({ learned }) => learned.recall)),
    'others of zero-shot': ({ of }) => formatFigure(of(({ zeroShot }) => zeroShot.othersAccuracy)),
    'others, held back': ({ of }) => formatFigure(of(({ heldBack }) => heldBack.othersAccuracy)),
    'others, learned': ({ of }) => formatFigure(of(({ learned }) => learned.othersAccuracy)),
  });
  return (
    'The rows of one option at a time are held back, at 16 rows per option; heads without the embedder’s vector are fitted on the rest and asked with it among the options. ' +
    `Fair is to choose it as often as it is right. *Recall*: where it is right; *others*: accuracy where another option is.\n\n${table}`
  );
}

function peerBlocks(report: LearningReport): string[] {
  if (report.peers.length === 0) return [];
  const rows = report.peers.flatMap((peer) => comparePeer(report, peer));
  return [
    '## Beside others',
    'On the same draws, by `models/training/umpire_training/learn_peers.py`: scikit-learn’s logistic regression on the embedder’s vectors, its strength C as it comes or chosen by ' +
      'cross-validation; SetFit on the embedder’s base model (all-MiniLM-L6-v2), one epoch. Means over the draws that both have measured.',
    tableOf(rows, {
      peer: ({ name, version }) => `${name} (${version})`,
      'rows per option': ({ rowsPerOption }) => String(rowsPerOption),
      tasks: ({ tasks }) => (tasks.length > MOST_NAMES ? String(tasks.length) : tasks.join(', ')),
      accuracy: ({ accuracy }) => formatFigure(accuracy),
      ECE: ({ ece }) => formatFigure(ece),
      'ours, regression': ({ ours }) => formatFigure(ours.plain),
      learned: ({ ours }) => formatFigure(ours.learned),
      'learned, `--embedder`': ({ ours }) => formatFigure(ours.learnedWithEmbedder),
      'zero-shot': ({ ours }) => formatFigure(ours.zeroShot),
    }),
  ];
}

/** Three decimals; a figure of nothing is a dash. */
function formatFigure(value: number | null): string {
  return value === null || Number.isNaN(value) ? '–' : value.toFixed(3);
}
