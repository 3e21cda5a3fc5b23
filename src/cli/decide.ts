// `umpire decide`: asks questions about a document, of a server or of an engine in this process.

import { decisionTask } from '../client/batch/decision-task.ts';
import type { WireReply } from '../client/server-connection.ts';
import { renderAnswers } from './answer-bars.ts';
import { runBatchCommand } from './batch-command.ts';
import { BATCH_OPTIONS, isBatch, readBatchFiles } from './batch-options.ts';
import { chooseServer, postOnce, refusal, URL_OPTION } from './choose-server.ts';
import { type Command, type CommandArguments, UsageError } from './command.ts';
import { DEFAULT_MODEL } from './default-model.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { Program } from './program.ts';
import { type AskedQuestions, QUESTION_OPTIONS, questionsFromTokens, wordsBeforeQuestions } from './questions.ts';
import { readQuestionsFile } from './questions-file.ts';
import { readTextFile } from './text-file.ts';

/** Files that hold rows. */
const ROWS_FILE = /[.](csv|tsv|jsonl|ndjson)$/i;

export const decideCommand: Command = {
  name: 'decide',
  group: 'ask',
  summary: 'Ask questions about a document',
  usage: '[file] --choice … | --noul … | --score … | --questions file.json [--json]',
  options: {
    ...QUESTION_OPTIONS,
    questions: {
      type: 'string',
      help: 'The questions of a request, as JSON or YAML',
      example: 'questions.yaml',
      values: 'file',
    },
    text: { type: 'string', help: 'The document itself, instead of a file', example: '"I was charged twice"' },
    model: {
      type: 'string',
      help: `Model to ask; ${DEFAULT_MODEL} if left out`,
      example: DEFAULT_MODEL,
      values: 'model',
    },
    url: URL_OPTION,
    ...BATCH_OPTIONS,
    json: { type: 'boolean', help: "Print the server's reply as it is; of a batch, its figures" },
  },
  operands: 'file',
  notes: [
    'The document is a file, or standard input when none is named. It is one document, whatever rows it may hold.',
    'With --input and --output each row of a file is asked about. The same command again goes on where it stopped.',
  ].join('\n'),
  examples: [
    {
      text: 'Two questions about a text, in this process',
      command: [
        'echo "I was charged twice." | umpire decide \\',
        '  --choice "Which team?" billing="payments, refunds" technical="bugs, outages" \\',
        '  --noul "Is the customer angry?"',
      ].join('\n'),
    },
    {
      text: 'Questions of a file, asked of a running server (its key is in UMPIRE_API_KEY)',
      command: 'umpire decide letter.txt --questions questions.json --url http://127.0.0.1:8080 --json',
    },
    {
      text: 'Each row of a file, on where it was stopped',
      command: 'umpire decide --input rows.csv --questions questions.yaml --output out.csv',
    },
  ],
  json: { isList: false, members: ['model', 'answers', 'usage'] },
  exits: {
    1: 'The server refused, or did not answer.',
    3: 'A batch is complete, and some rows have an error instead of an answer.',
  },
  async run(given, program) {
    if (isBatch(given)) return await decideRows(given, program);
    const questions = await readQuestions(given);
    const body = requestBody(given, await readDocument(given, program), questions);
    const server = await chooseServer(given, program);
    try {
      return printReply(await postOnce(server, '/ai/v1/systemone', body), { given, program, questions });
    } finally {
      await server.close();
    }
  },
};

async function readQuestions({ options, tokens, positionals }: CommandArguments): Promise<AskedQuestions> {
  const { questions } = options;
  if (typeof questions !== 'string') return questionsFromTokens(tokens);
  if ((positionals.length > 1 || options['choice']) ?? options['noul'] ?? options['score']) {
    throw new UsageError('Ask with --questions or with the other flags, not both.');
  }
  return await readQuestionsFile(questions);
}

/** Each row of a file is a document of its own. */
async function decideRows(given: CommandArguments, program: Program): Promise<ExitCode> {
  const { tokens, options } = given;
  if (options['text'] !== undefined || wordsBeforeQuestions(tokens).length > 0) {
    throw new UsageError('The documents are one of --text, a file or the rows of --input.');
  }
  const files = readBatchFiles(given);
  const { json: questions } = await readQuestions(given);
  const model = modelOf(given);
  const task = decisionTask({ model, questions });
  return await runBatchCommand(given, program, {
    files,
    work: { command: 'decide', task, model, questions, form: '' },
  });
}

async function readDocument({ options, tokens }: CommandArguments, program: Program): Promise<string> {
  const [file, ...others] = wordsBeforeQuestions(tokens);
  const { text } = options;
  if (others.length > 0) throw new UsageError('There can be one document.');
  if (typeof text === 'string') {
    if (file !== undefined) throw new UsageError('The document is a file or --text, not both.');
    return text;
  }
  if (file === undefined || file === '-') return await program.readStdin();
  const document = await readTextFile(file);
  if (ROWS_FILE.test(file)) program.writeError(rowsNotice(file, document));
  return document;
}

/** Whoever names such a file may expect an answer for each row. */
function rowsNotice(file: string, document: string): string {
  const lines = document.trimEnd().split('\n').length;
  return `umpire: note: ${file} (${lines} ${lines === 1 ? 'line' : 'lines'}) is read as one document, and each question is answered once for all of it, not for each row. For an answer to each row: --input and --output.\n`;
}

function modelOf({ options }: CommandArguments): string {
  return typeof options['model'] === 'string' ? options['model'] : DEFAULT_MODEL;
}

function requestBody(given: CommandArguments, state: string, questions: AskedQuestions): string {
  return `{"model":${JSON.stringify(modelOf(given))},"state":${JSON.stringify(state)},"questions":${questions.json}}`;
}

interface Asking {
  readonly given: CommandArguments;
  readonly program: Program;
  readonly questions: AskedQuestions;
}

function printReply(reply: WireReply, { given, program, questions }: Asking): ExitCode {
  const { status, body } = reply;
  if (status !== 200) {
    throw refusal(reply, program);
  }
  program.writeOut(given.options['json'] ? `${body}\n` : renderAnswers(body, questions.titles));
  return EXIT.done;
}
