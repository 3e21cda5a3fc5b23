// `umpire learn`: somebody's own labelled rows into a model that answers their questions better.

import {
  type LearnNews,
  type LearnOrder,
  type LearnOutcome,
  type LearnReport,
  MOST_ANSWERS,
  type OptionRename,
} from '../learning/learn-order.ts';
import { type Command, type CommandArguments, UsageError } from './command.ts';
import { DEFAULT_EMBEDDING_MODEL, DEFAULT_MODEL } from './default-model.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { LABELLED_FILE_NOTES, LABELLED_FILE_OPTIONS, readLabelledFile } from './labelled-file.ts';
import { learningToJson } from './learn-json.ts';
import { LearnProgress } from './learn-progress.ts';
import { renderLearning } from './learn-report.ts';
import type { Program } from './program.ts';
import { JSON_OPTION, renderJson } from './table.ts';

export const learnCommand: Command = {
  name: 'learn',
  group: 'models',
  summary: 'Learn your questions from your own labelled rows',
  usage: 'FILE --name ID [--model …] [--more | --replace] [--dry-run] [--json]',
  options: {
    name: { type: 'string', help: 'Id of the model that is made; needed', example: 'support' },
    model: {
      type: 'string',
      help: `Decision model that it stands on; ${DEFAULT_MODEL} if left out, with --more that of the model`,
      example: DEFAULT_MODEL,
      values: 'model',
    },
    embedder: {
      type: 'boolean',
      help: `Read documents with ${DEFAULT_EMBEDDING_MODEL} as well: somewhat better, and two models read each document`,
    },
    more: { type: 'boolean', help: 'Add these rows to those that the model was learned from' },
    replace: { type: 'boolean', help: 'Learn a model that is there already anew, from these rows alone' },
    rename: {
      type: 'string',
      multiple: true,
      help: 'An option that has another name by now; may be given again',
      example: '"refunds=money back"',
    },
    ...LABELLED_FILE_OPTIONS,
    'dry-run': { type: 'boolean', help: 'Show what would be gained, and write nothing' },
    json: JSON_OPTION,
  },
  operands: 'file',
  notes: LABELLED_FILE_NOTES,
  examples: [
    {
      text: 'What rows with the answers of people would bring',
      command: 'umpire learn tickets.jsonl --name support --dry-run',
      untested: 'test/guides/learning.test.ts runs the guide',
    },
    {
      text: 'A table of answers, to the rows learned so far',
      command: 'umpire learn more.csv --questions questions.json --name support --more',
      untested: 'test/guides/learning.test.ts runs the guide',
    },
  ],
  json: {
    isList: false,
    members: [
      'id',
      'base',
      'base_digest',
      'embedder',
      'rows',
      'left_out',
      'replaced_answers',
      'untouched_questions',
      'questions',
      'written',
      'digest',
    ],
  },
  exits: {
    1: 'The file, a row of it or a model cannot be used, or no question gains. Nothing was written.',
    3: 'Learned, but some rows were left out: the base cannot read them.',
  },
  async run(given, program) {
    const order = await readOrder(given);
    return await learn(order, given, program);
  },
};

/** @throws UsageError, LabelledFileError */
async function readOrder(given: CommandArguments): Promise<LearnOrder> {
  const { options } = given;
  const { name, model } = options;
  if (typeof name !== 'string' || name === '') throw new UsageError('Name the model that is made: --name support.');
  const [addsRows, replaces] = [options['more'] === true, options['replace'] === true];
  if (addsRows && replaces) throw new UsageError('Either --more, or --replace: not both.');
  const renames = readRenames((options['rename'] ?? []) as readonly string[]);
  const rows = await readLabelledFile(given, {
    mostRows: MOST_ANSWERS,
    hasOneWording: true,
    renames: renames.length === 0 ? undefined : new Map(renames.map(({ from, to }) => [from, to])),
  });
  return {
    id: name,
    base: typeof model === 'string' ? model : undefined,
    usesEmbedder: options['embedder'] === true,
    rows,
    addsRows,
    renames,
    replaces,
    isTrial: options['dry-run'] === true,
  };
}

/** @throws UsageError */
function readRenames(given: readonly string[]): OptionRename[] {
  return given.map((text) => {
    const at = text.indexOf('=');
    if (at <= 0 || at === text.length - 1)
      throw new UsageError('--rename takes the old name and the new one: --rename old=new.');
    return { from: text.slice(0, at), to: text.slice(at + 1) };
  });
}

async function learn(order: LearnOrder, given: CommandArguments, program: Program): Promise<ExitCode> {
  const isJson = given.options['json'] === true;
  const stopped = new AbortController();
  const forget = program.onInterrupt(() => stopped.abort());
  const progress = new LearnProgress(program, { isJson });
  const watcher = {
    signal: stopped.signal,
    tell: (news: LearnNews) => progress.tell(news),
    onReport: (report: LearnReport) => {
      progress.end();
      if (!isJson) program.writeOut(renderLearning(report));
    },
  };
  try {
    const outcome = await program.learnModel(given.settings, order, watcher);
    progress.end();
    program.writeOut(isJson ? renderJson(learningToJson(outcome)) : `${describeEnd(order, outcome)}\n`);
    return exitOf(order, outcome);
  } catch (error) {
    progress.end();
    if (!stopped.signal.aborted) throw error;
    program.writeError('umpire: Stopped. Nothing was written.\n');
    return EXIT.stopped;
  } finally {
    forget();
  }
}

function exitOf({ isTrial }: LearnOrder, { report, written }: LearnOutcome): ExitCode {
  if (!isTrial && written === undefined) return EXIT.failed;
  return report.leftOut.length > 0 ? EXIT.someRowsFailed : EXIT.done;
}

function describeEnd({ id, isTrial }: LearnOrder, { written }: LearnOutcome): string {
  if (isTrial) return 'Nothing was written (--dry-run).';
  if (written === undefined) return `Nothing was written: ${id} would answer as its base does.`;
  return `Written: ${written.folder}, ${written.digest}. Ask it by "model": ${JSON.stringify(id)}; a running server takes it at its next start.`;
}
