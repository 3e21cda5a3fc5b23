// `umpire label`: asks whoever sits before the terminal about the rows from which most would be learned.

import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { messageOf } from '../domain/errors.ts';
import type { RowRefusal } from '../quality/asking.ts';
import type { LabelledRow } from '../quality/labelled-row.ts';
import { type Command, type CommandArguments, UsageError } from './command.ts';
import { DEFAULT_MODEL } from './default-model.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { CommandError, commandFailure } from './failure.ts';
import { AnswerFile, AnswerFileError } from './label/answer-file.ts';
import { Desk } from './label/desk.ts';
import { keepGivenAnswers } from './label/given-answers.ts';
import { LabelMemory, LabelMemoryTaken } from './label/label-memory.ts';
import { Labelling } from './label/labelling.ts';
import { type OpenRow, readOpenRows } from './label/open-rows.ts';
import { ReadingView } from './label/reading-view.ts';
import { choosePool, findReadRows, isAllRead, readPool } from './label/row-pool.ts';
import { Sitting } from './label/sitting.ts';
import { tellRefusals } from './labelled-file.ts';
import type { DecisionModel, Program } from './program.ts';
import { type AskedQuestions, QUESTION_OPTIONS, questionsFromTokens, wordsBeforeQuestions } from './questions.ts';
import { readQuestionsFile } from './questions-file.ts';
import { renderJson } from './table.ts';
import type { Terminal } from './terminal.ts';

const DEFAULT_LIMIT = 2000;

export const labelCommand: Command = {
  name: 'label',
  group: 'models',
  summary: 'Answer rows yourself, those first from which most is learned',
  usage: 'FILE [--choice … | --noul … | --score … | --questions …] [--out …] [--model …] [--json]',
  options: {
    questions: {
      type: 'string',
      help: 'The questions of all rows, as JSON or YAML',
      example: 'questions.yaml',
      values: 'file',
    },
    ...QUESTION_OPTIONS,
    out: {
      type: 'string',
      help: 'Where the answers go; FILE.labelled.jsonl if left out',
      example: 'answers.jsonl',
      values: 'file',
    },
    model: {
      type: 'string',
      help: `Model that reads the rows first; ${DEFAULT_MODEL} if left out`,
      example: DEFAULT_MODEL,
      values: 'model',
    },
    'text-column': { type: 'string', help: 'Column or member with the document', example: 'message' },
    limit: {
      type: 'string',
      help: `Rows to choose from, taken evenly from the file; ${DEFAULT_LIMIT} if left out`,
      example: '500',
    },
    json: { type: 'boolean', help: 'Say at the end in JSON what was done' },
  },
  operands: 'file',
  notes: [
    'FILE has one JSON object a line, {"state": "…"}, with questions of its own where none are given; or it is .csv, .tsv, or',
    '.txt with a document on each line; also .gz. What is answered in it already is kept and not asked.',
    '',
    'Every answer is on disk before the next question is shown. The same command again goes on where it stopped. The output',
    'is what `umpire learn` and `umpire eval` take. What the model made of the rows is kept beside it, in a .run file.',
    '',
    '  1 … 9, y, n   an answer, as shown; of ten options or more each has several digits',
    '  s             skip: not asked again before everything else is answered',
    '  u             take the last answer back, and the one before it',
    '  space ↑ ↓     the rest of a long document; Tab: more options; /: find an option',
    '  q, Ctrl-C     leave',
  ].join('\n'),
  examples: [
    {
      text: 'Label rows, then learn from them',
      command: 'umpire label tickets.csv --choice "Which team?" billing technical',
      untested: 'It asks a person.',
    },
    {
      text: 'With the questions of a file, into a file of that name',
      command: 'umpire label tickets.jsonl --questions questions.yaml --out answers.jsonl',
      untested: 'It asks a person.',
    },
  ],
  json: { isList: false, members: ['out', 'answers', 'new', 'open', 'skipped', 'left_out', 'refusals'] },
  exits: { 130: 'Left by Ctrl-C or SIGTERM, or the terminal was closed. All answers are on disk.' },
  async run(given, program) {
    const terminal = program.findTerminal();
    if (terminal === undefined) {
      throw new UsageError('It asks a person: standard input and output must be a terminal.');
    }
    const order = readOrder(given);
    const questions = await readQuestions(given);
    const textColumn = textOf(given, 'text-column');
    const rows = await readFile(order.path, { questions, textColumn });
    const model = await program.findDecisionModel(given.settings, order.model);
    return await labelInto(order, { program, terminal, model, rows });
  },
};

interface LabelOrder {
  readonly path: string;
  readonly out: string;
  readonly model: string;
  readonly limit: number;
  readonly isJson: boolean;
}

function textOf({ options }: CommandArguments, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** @throws UsageError */
function readOrder(given: CommandArguments): LabelOrder {
  const [path, ...others] = wordsBeforeQuestions(given.tokens);
  if (path === undefined || others.length > 0) throw new UsageError('It takes one file of rows.');
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}.`);
  const out = textOf(given, 'out') ?? `${path.replace(/(\.[a-z]+)?(\.gz)?$/i, '')}.labelled.jsonl`;
  if (resolve(out) === resolve(path)) throw new UsageError('The output must be another file than the rows.');
  if (!/\.(jsonl|ndjson)$/i.test(out)) throw new UsageError('The output is JSON Lines: name it .jsonl.');
  const limit = textOf(given, 'limit') ?? String(DEFAULT_LIMIT);
  if (!/^[1-9]\d{0,8}$/.test(limit)) throw new UsageError('--limit takes a number of rows.');
  return {
    path,
    out,
    model: textOf(given, 'model') ?? DEFAULT_MODEL,
    limit: Number(limit),
    isJson: given.options['json'] === true,
  };
}

/** @returns undefined when each row has its own. @throws UsageError */
async function readQuestions(given: CommandArguments): Promise<AskedQuestions | undefined> {
  const file = textOf(given, 'questions');
  const hasFlags = ['choice', 'noul', 'score'].some((name) => given.options[name] !== undefined);
  if (file !== undefined && hasFlags) throw new UsageError('Ask with --questions or with the other flags, not both.');
  if (file !== undefined) return await readQuestionsFile(file);
  return hasFlags ? questionsFromTokens(given.tokens) : undefined;
}

/** @throws UsageError, LabelledFileError */
async function readFile(path: string, options: Parameters<typeof readOpenRows>[1]): Promise<OpenRow[]> {
  try {
    return await readOpenRows(path, options);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error)
      throw new UsageError(`${path} cannot be read: ${messageOf(error)}.`);
    throw error;
  }
}

interface LabelParts {
  readonly program: Program;
  readonly terminal: Terminal;
  readonly model: DecisionModel;
  readonly rows: readonly OpenRow[];
}

async function labelInto(order: LabelOrder, parts: LabelParts): Promise<ExitCode> {
  const { out } = order;
  const memory = openMemory(out, parts.model.digest);
  try {
    const { file, rows: found, repairedBytes } = AnswerFile.open(out);
    try {
      if (repairedBytes > 0)
        parts.program.writeError(`umpire: note: half an answer at the end of ${out} was removed.\n`);
      const written = [...found, ...keepGivenAnswers(file, found, parts.rows)];
      return await label(order, { ...parts, memory, file, written });
    } finally {
      file.close();
    }
  } catch (error) {
    throw error instanceof AnswerFileError ? taken(error.message) : error;
  } finally {
    memory.close();
  }
}

interface SittingParts extends LabelParts {
  readonly memory: LabelMemory;
  readonly file: AnswerFile;
  /** The lines of the file. */
  readonly written: readonly LabelledRow[];
}

async function label(order: LabelOrder, parts: SittingParts): Promise<ExitCode> {
  const { program, terminal, memory, rows: all } = parts;
  const { rows, leftOut } = choosePool(all, parts.written, order.limit);
  const reading = new ReadingView();
  const desk = new Desk(terminal, reading);
  const forget = program.onInterrupt(() => desk.stop('stopped'));
  try {
    const refusals = await readDocuments(rows, { ...parts, desk, reading });
    const labelling = new Labelling({ ...parts, rows: findReadRows(rows, memory) });
    const end = await sit(order, labelling, { ...parts, desk });
    terminal.close();
    if (!order.isJson) tellRefusals(refusals, program);
    program.writeOut(
      order.isJson ? renderJson(toJson(order, labelling, { leftOut, refusals })) : tell(order, labelling, leftOut),
    );
    return end === 'stopped' ? EXIT.stopped : EXIT.done;
  } finally {
    terminal.close();
    forget();
  }
}

interface DocumentsParts extends SittingParts {
  readonly desk: Desk;
  readonly reading: ReadingView;
}

async function readDocuments(rows: readonly OpenRow[], { desk, reading, ...parts }: DocumentsParts) {
  const { memory, model, terminal } = parts;
  if (isAllRead(rows, memory)) {
    terminal.open(desk);
    return [];
  }
  // Before the terminal is taken: whatever a start has to say stays to be read.
  const reader = await model.startReader();
  try {
    terminal.open(desk);
    const onProgress = (done: number, total: number): void => {
      reading.update(done, total);
      desk.changed();
    };
    return await readPool(rows, { memory, reader, onProgress, isStopped: () => desk.isOver || reading.isEnough });
  } finally {
    await reader.close();
  }
}

interface DeskParts extends SittingParts {
  readonly desk: Desk;
}

async function sit({ path }: LabelOrder, labelling: Labelling, { desk, program, model }: DeskParts) {
  if (desk.isOver) return await desk.ended;
  // What was typed before there was anything to see is no answer.
  await new Promise((resolve) => setImmediate(resolve));
  if (labelling.current === undefined) return 'over';
  desk.show(new Sitting({ labelling, title: `${basename(path)} · ${model.id}`, paint: program.paint }));
  return await desk.ended;
}

interface Others {
  readonly leftOut: number;
  readonly refusals: readonly RowRefusal[];
}

function toJson({ out }: LabelOrder, labelling: Labelling, { leftOut, refusals }: Others): object {
  const { answers, answersNow, openItems, passedItems } = labelling;
  return { out, answers, new: answersNow, open: openItems, skipped: passedItems, left_out: leftOut, refusals };
}

function tell({ out }: LabelOrder, labelling: Labelling, leftOut: number): string {
  const { answers, answersNow, openItems, passedItems } = labelling;
  const passed = passedItems === 0 ? '' : `, ${passedItems} skipped`;
  const others = leftOut === 0 ? '' : ` ${leftOut} other rows of the file wait: --limit takes more.`;
  return [
    `${answers} answers in ${out}, ${answersNow} of them new; ${openItems} to go${passed}.${others}`,
    openItems + passedItems + leftOut > 0
      ? 'The same command goes on.\n'
      : `umpire learn ${out} --name NAME learns from them.\n`,
  ].join('\n');
}

function openMemory(out: string, modelDigest: string): LabelMemory {
  try {
    return LabelMemory.open(`${out}.run`, modelDigest);
  } catch (error) {
    throw taken(error instanceof LabelMemoryTaken ? error.message : `${out} cannot be written: ${messageOf(error)}.`);
  }
}

function taken(message: string): CommandError {
  return new CommandError(commandFailure('output_taken', message));
}
