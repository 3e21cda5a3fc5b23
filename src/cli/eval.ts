// `umpire eval`: how well a model answers somebody's own labelled rows.

import { answerRows, measureOrderInstability, type OrderInstability, type RowRefusal } from '../quality/asking.ts';
import { accuracyByOptions, accuracyByStateTokens, type BreakdownRow } from '../quality/breakdown.ts';
import {
  type Figures,
  measureFigures,
  measureTasks,
  type ReliabilityBin,
  reliabilityBins,
  toGuesses,
} from '../quality/figures.ts';
import { type LabelledAnswer, probabilitiesOf } from '../quality/labelled-answer.ts';
import type { Command } from './command.ts';
import { DEFAULT_MODEL } from './default-model.ts';
import { EXIT } from './exit-codes.ts';
import { FIGURE_HEADINGS, figureCells, figuresToJson, formatFigure } from './figure-cells.ts';
import { LABELLED_FILE_NOTES, LABELLED_FILE_OPTIONS, readLabelledFile, tellRefusals } from './labelled-file.ts';
import type { DecisionModel } from './program.ts';
import { clean, JSON_OPTION, renderJson, renderTable } from './table.ts';
import { askOverWire } from './wire-ask.ts';

/** Every choice of theirs is asked three times more, so not all rows. */
const ORDER_ROWS = 50;

export const evalCommand: Command = {
  name: 'eval',
  group: 'models',
  summary: 'Measure a model on your own labelled rows',
  usage: 'FILE [--model …] [--limit …] [--json]',
  options: {
    model: {
      type: 'string',
      help: `Model id or folder; ${DEFAULT_MODEL} if left out`,
      example: DEFAULT_MODEL,
      values: 'model',
    },
    ...LABELLED_FILE_OPTIONS,
    json: JSON_OPTION,
  },
  operands: 'file',
  notes: LABELLED_FILE_NOTES,
  examples: [
    { text: 'How well kev answers your rows', command: 'umpire eval rows.jsonl' },
    { text: 'The first 500 of them, for a program', command: 'umpire eval rows.jsonl --limit 500 --json' },
  ],
  json: {
    isList: false,
    members: [
      'model',
      'digest',
      'rows',
      'refusals',
      'all',
      'questions',
      'by_state_tokens',
      'by_options',
      'reliability',
      'order_instability',
    ],
  },
  exits: { 1: 'The file, a row of it or the model cannot be read.', 3: 'Some rows were not answered.' },
  async run(given, program) {
    const { model: wanted, json } = given.options;
    const rows = await readLabelledFile(given);
    const model = await program.findDecisionModel(given.settings, typeof wanted === 'string' ? wanted : DEFAULT_MODEL);
    const server = await model.startServer();
    try {
      const asked = askOverWire(model, server);
      const { answers, refusals } = await answerRows(rows, asked);
      if (!json) tellRefusals(refusals, program);
      const order = await measureOrderInstability(rows.slice(0, ORDER_ROWS), asked);
      const report = makeReport(answers, { model, order, refusals, rows: rows.length - refusals.length });
      program.writeOut(json ? renderJson(toJson(report)) : renderReport(report));
      return refusals.length === 0 ? EXIT.done : EXIT.someRowsFailed;
    } finally {
      await server.close();
    }
  },
};

interface EvaluationReport {
  readonly model: DecisionModel;
  /** Answered. */
  readonly rows: number;
  readonly refusals: readonly RowRefusal[];
  readonly all: Figures;
  readonly tasks: ReadonlyMap<string, Figures>;
  readonly byStateTokens: readonly BreakdownRow[];
  readonly byOptions: readonly BreakdownRow[];
  readonly reliability: readonly ReliabilityBin[];
  readonly order: OrderInstability;
}

interface MeasuredModel {
  readonly model: DecisionModel;
  readonly rows: number;
  readonly refusals: readonly RowRefusal[];
  readonly order: OrderInstability;
}

function makeReport(
  answers: readonly LabelledAnswer[],
  { model, rows, refusals, order }: MeasuredModel,
): EvaluationReport {
  const { temperatures } = model;
  const probabilities = answers.map((answer) => probabilitiesOf(answer, temperatures));
  return {
    model,
    rows,
    refusals,
    all: measureFigures(answers, temperatures),
    tasks: measureTasks(answers, temperatures),
    byStateTokens: accuracyByStateTokens(answers),
    byOptions: accuracyByOptions(answers),
    reliability: reliabilityBins(toGuesses(answers, probabilities)),
    order,
  };
}

function renderReport({ model, rows, all, tasks, byStateTokens, byOptions, order }: EvaluationReport): string {
  const perTask = [...tasks].map(([task, figures]) => [clean(task), ...figureCells(figures)]);
  const total = tasks.size > 1 ? [['all', ...figureCells(all)]] : [];
  return [
    `${rows} rows, ${all.questions} questions, ${model.id} (${model.digest})\n`,
    renderTable([['QUESTION', ...FIGURE_HEADINGS], ...perTask, ...total]),
    renderBreakdown('TOKENS OF THE DOCUMENT', byStateTokens),
    renderBreakdown('OPTIONS', byOptions),
    `${renderOrder(order)}\n`,
  ].join('\n');
}

function renderBreakdown(title: string, rows: readonly BreakdownRow[]): string {
  const cells = rows.map(({ interval, questions, accuracy }) => [interval, String(questions), formatFigure(accuracy)]);
  return renderTable([[title, 'QUESTIONS', 'ACCURACY'], ...cells]);
}

function renderOrder({ questions, largestShift }: OrderInstability): string {
  if (questions === 0) return 'No choice among the questions, so no order of options to change.';
  return `Options in another order, ${questions} questions: a probability changes by ${largestShift} at most.`;
}

function toJson(report: EvaluationReport): object {
  const { model, rows, refusals, all, tasks, byStateTokens, byOptions, reliability, order } = report;
  return {
    model: model.id,
    digest: model.digest,
    rows,
    refusals,
    all: figuresToJson(all),
    questions: [...tasks].map(([name, figures]) => ({ name, ...figuresToJson(figures) })),
    by_state_tokens: byStateTokens,
    by_options: byOptions,
    reliability,
    order_instability: { questions: order.questions, largest_shift: order.largestShift },
  };
}
