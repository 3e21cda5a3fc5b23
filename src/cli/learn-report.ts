// What a learning found, for people: figures beside zero-shot, whether more rows would help, and rows to look at, which
// are told by their lines alone.

import type { MeanAndSpread } from '../domain/learned-figures.ts';
import type { LearnReport, QuestionFindings } from '../learning/learn-order.ts';
import { formatFigure } from './figure-cells.ts';
import { clean, renderTable } from './table.ts';

const HEADINGS = ['QUESTION', 'TYPE', 'ROWS', 'ACCURACY', 'MACRO-F1', 'ECE', 'ANSWERED AT 5 % ERROR'];
const MOST_ROWS_TOLD = 10;
const MOST_OPTIONS_TOLD = 8;
/** Of accuracy, in points of a hundred: less says nothing. */
const LEAST_POINTS = 0.5;

export function renderLearning(report: LearnReport): string {
  const { id, base, embedder, rows, questions, leftOut } = report;
  const on = `on ${base.id} (${base.digest})${embedder === undefined ? '' : ` with ${embedder.id}`}`;
  const measured = questions.filter(({ figures }) => figures !== undefined);
  const unmeasured = questions.filter(({ figures }) => figures === undefined);
  const paragraphs = [
    `${id}: ${rows} rows, ${on}\n`,
    measured.length === 0 ? '' : renderTable([HEADINGS, ...measured.map(figureRow)]),
    measured.length === 0 ? '' : EXPLANATION,
    ...measured.map(renderFindings),
    renderUnmeasured(
      'with too few rows',
      unmeasured.filter(({ verdict }) => verdict !== 'one option only'),
    ),
    renderUnmeasured(
      'with the same answer in all rows',
      unmeasured.filter(({ verdict }) => verdict === 'one option only'),
    ),
    renderRest(report),
    renderLines(
      'Left out, because the base cannot read them:',
      leftOut.map(({ line, message }) => `line ${line}: ${message}`),
    ),
  ];
  return `${paragraphs.filter((text) => text !== '').join('\n')}\n`;
}

const EXPLANATION =
  'Before the arrow: zero-shot, as the base answers. After it: learned. Both by cross-validation, on rows that nothing was\nfitted on, with the standard deviation between its folds.\n';

function figureRow({ name, type, rows, figures }: QuestionFindings): string[] {
  if (figures === undefined) return [];
  const { zeroShot, learned } = figures;
  const names = ['accuracy', 'macroF1', 'ece', 'answeredAt5'] as const;
  return [
    name,
    type,
    String(rows),
    ...names.map((figure) => `${formatFigure(zeroShot[figure].mean)} → ${withSpread(learned[figure])}`),
  ];
}

/** Files of many questions have many that are asked once: a line for all of them. */
function renderUnmeasured(why: string, questions: readonly QuestionFindings[]): string {
  if (questions.length === 0) return '';
  const told = questions.slice(0, MOST_ROWS_TOLD).map(({ name, rows }) => `${clean(name)} (${rows})`);
  const count = questions.length === 1 ? 'One question' : `${questions.length} questions`;
  return `${count} left out ${why}; zero-shot answers as before: ${listWithRest(told, questions.length)}.\n`;
}

function withSpread({ mean, spread }: MeanAndSpread): string {
  return Number.isNaN(spread) ? formatFigure(mean) : `${formatFigure(mean)} ± ${formatFigure(spread)}`;
}

function renderFindings(findings: QuestionFindings): string {
  const lines = [
    describeVerdict(findings),
    describeCurve(findings),
    describeScarce(findings),
    ...describeSuspects(findings),
    ...describeContradictions(findings),
  ].filter((line) => line !== '');
  return `${clean(findings.name)}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

function describeVerdict({ verdict, figures, rows, states, earlierRows }: QuestionFindings): string {
  const among = earlierRows === 0 ? '' : ` ${earlierRows} of its rows were learned earlier.`;
  const said = {
    learned: describeGain(figures),
    'no gain': 'Left out: a head is no better than zero-shot on rows it has not seen. Zero-shot answers it as before.',
    'too few rows': `Left out: ${rows} rows about ${states} ${states === 1 ? 'document' : 'documents'} are too few. Zero-shot answers it as before.`,
    'one option only':
      'Left out: all rows say the same, so there is nothing to tell apart. Zero-shot answers it as before.',
  };
  return said[verdict] + among;
}

/** A head is there for its probabilities: that they are better does not say that it is right more often. */
function describeGain(figures: QuestionFindings['figures']): string {
  const points = figures === undefined ? 0 : 100 * (figures.learned.accuracy.mean - figures.zeroShot.accuracy.mean);
  const told = Math.abs(points).toFixed(1);
  if (points >= LEAST_POINTS) return `Learned: ${told} points more accurate.`;
  if (points <= -LEAST_POINTS)
    return `Learned for its better probabilities, though it is ${told} points less accurate.`;
  return 'Learned: about as accurate, with better probabilities.';
}

function describeCurve({ curve, wouldMoreHelp, type }: QuestionFindings): string {
  if (curve.length === 0) return '';
  const per = type === 'score' ? 'level' : 'option';
  const points = curve.map(
    ({ rowsPerOption, accuracy }) => `${formatFigure(accuracy.mean)} at ${Math.round(rowsPerOption)}`,
  );
  const words = {
    true: 'More rows would help',
    false: 'More rows would hardly help',
    undefined: 'Too few rows to say whether more would help',
  };
  return `${words[`${wouldMoreHelp}`]}: accuracy is ${points.join(', ')} rows per ${per}.`;
}

function describeScarce({ scarceOptions, optionNames, rowsOfOptions }: QuestionFindings): string {
  if (scarceOptions.length === 0) return '';
  const told = scarceOptions
    .slice(0, MOST_OPTIONS_TOLD)
    .map((place) => `${clean(optionNames[place] ?? '')} (${tellCount(rowsOfOptions[place] ?? 0)})`);
  return `Few rows for ${listWithRest(told, scarceOptions.length)}: zero-shot says nearly all about ${scarceOptions.length === 1 ? 'it' : 'them'}.`;
}

/** Shares of rows make counts that are no whole numbers. */
function tellCount(rows: number): string {
  return Number.isInteger(rows) ? String(rows) : rows.toFixed(1);
}

function describeSuspects({ suspects, optionNames }: QuestionFindings): string[] {
  if (suspects.length === 0) return [];
  const told = suspects.slice(0, MOST_ROWS_TOLD).map(({ line, labelled, likelier, probability }) => {
    const [says, rather] = [clean(optionNames[labelled] ?? ''), clean(optionNames[likelier] ?? '')];
    return `  ${tellLine(line)}: says ${says}, the others say ${rather} (${formatFigure(probability)})`;
  });
  const rest = suspects.length - told.length;
  return [
    'Rows to look at, which the other rows contradict most surely:',
    ...told,
    ...(rest > 0 ? [`  … and ${rest} more (--json has them)`] : []),
  ];
}

function describeContradictions({ contradictions, optionNames }: QuestionFindings): string[] {
  const told = contradictions.slice(0, MOST_ROWS_TOLD).map(({ lines, labelled }) => {
    const names = labelled.map((place) => clean(optionNames[place] ?? ''));
    return `  ${lines.map(tellLine).join(', ')}: ${names.join(', ')}`;
  });
  const rest = contradictions.length - told.length;
  if (told.length === 0) return [];
  return [
    'The same document with different answers; each counts by its share:',
    ...told,
    ...(rest > 0 ? [`  … and ${rest} more (--json has them)`] : []),
  ];
}

function tellLine(line: number): string {
  return line === 0 ? 'a row learned earlier' : `line ${line}`;
}

function renderRest({ replacedAnswers, untouched }: LearnReport): string {
  const lines = [
    ...(replacedAnswers === 0
      ? []
      : [`${replacedAnswers} answers learned earlier gave way to new ones about the same documents.\n`]),
    ...(untouched === 0 ? [] : [`${untouched} other questions of the model stay as they are.\n`]),
  ];
  return lines.join('');
}

function renderLines(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `${title}\n${listWithRest(
    lines.slice(0, MOST_ROWS_TOLD).map((line) => `  ${line}`),
    lines.length,
    '\n',
  )}\n`;
}

function listWithRest(told: readonly string[], count: number, separator = ', '): string {
  const rest = count - told.length;
  return [...told, ...(rest > 0 ? [`… and ${rest} more`] : [])].join(separator);
}
