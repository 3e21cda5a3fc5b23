// `umpire decide`: asks questions about a document, of a server or of an engine in this process.

import { readFile } from 'node:fs/promises';
import { connectToServer, describeLostReply } from '../client/remote-server.ts';
import type { ServerConnection, WireReply } from '../client/server-connection.ts';
import { messageOf } from '../domain/errors.ts';
import { renderAnswers } from './answer-bars.ts';
import { type Command, type CommandArguments, UsageError } from './command.ts';
import { DEFAULT_MODEL } from './default-model.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { CommandError, commandFailure } from './failure.ts';
import type { Program } from './program.ts';
import { type AskedQuestions, questionsFromJson, questionsFromTokens, wordsBeforeQuestions } from './questions.ts';
import { refusedReply } from './refused-reply.ts';

/** Files that hold rows. */
const ROWS_FILE = /[.](csv|tsv|jsonl|ndjson)$/i;

export const decideCommand: Command = {
  name: 'decide',
  group: 'ask',
  summary: 'Ask questions about a document',
  usage: '[file] --choice … | --noul … | --score … | --questions file.json [--json]',
  options: {
    choice: {
      type: 'string',
      multiple: true,
      help: 'One of several; options follow',
      example: '"Which team?" a="…" b',
    },
    noul: {
      type: 'string',
      multiple: true,
      help: 'Yes or no; true="…" false="…" may follow',
      example: '"Is it spam?"',
    },
    score: {
      type: 'string',
      multiple: true,
      help: 'A scale; levels follow, lowest first',
      example: '"How angry?" calm cross',
    },
    questions: { type: 'string', help: 'The questions of a request, as JSON', example: 'file.json', values: 'file' },
    text: { type: 'string', help: 'The document itself, instead of a file', example: '"I was charged twice"' },
    model: {
      type: 'string',
      help: `Model to ask; ${DEFAULT_MODEL} if left out`,
      example: DEFAULT_MODEL,
      values: 'model',
    },
    url: {
      type: 'string',
      help: 'Server to ask (UMPIRE_URL, key in UMPIRE_API_KEY); none: in this process',
      example: 'http://…',
    },
    json: { type: 'boolean', help: "Print the server's reply as it is" },
  },
  operands: 'file',
  notes: 'The document is a file, or standard input when none is named. It is one document, whatever rows it may hold.',
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
  ],
  json: { isList: false, members: ['model', 'answers', 'usage'] },
  exits: { 1: 'The server refused, or did not answer.' },
  async run(given, program) {
    const questions = await readQuestions(given);
    const body = requestBody(given, await readDocument(given, program), questions);
    const server = await chooseServer(given, program);
    try {
      return printReply(await post(server, body), { given, program, questions });
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
  return questionsFromJson(await readText(questions));
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
  const document = await readText(file);
  if (ROWS_FILE.test(file)) program.writeError(rowsNotice(file, document));
  return document;
}

/** Whoever names such a file may expect an answer for each row. */
function rowsNotice(file: string, document: string): string {
  const lines = document.trimEnd().split('\n').length;
  return `umpire: note: ${file} (${lines} ${lines === 1 ? 'line' : 'lines'}) is read as one document, and each question is answered once for all of it, not for each row. There are no batches yet: ask once a row.\n`;
}

async function readText(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${file} is no text: it is not valid UTF-8.`);
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}.`);
  }
}

function requestBody({ options }: CommandArguments, state: string, questions: AskedQuestions): string {
  const model = typeof options['model'] === 'string' ? options['model'] : DEFAULT_MODEL;
  return `{"model":${JSON.stringify(model)},"state":${JSON.stringify(state)},"questions":${questions.json}}`;
}

async function chooseServer({ options, settings }: CommandArguments, program: Program): Promise<ServerConnection> {
  const { url = program.clientSettings.url } = options;
  if (typeof url !== 'string') return await program.startLocalServer(settings);
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new UsageError('--url must be an http or https address.');
  return connectToServer(url, program.clientSettings.apiKey);
}

async function post(server: ServerConnection, body: string): Promise<WireReply> {
  try {
    return await server.post('/ai/v1/systemone', body);
  } catch (error) {
    throw new CommandError(commandFailure('no_answer', `No answer from the server: ${describeLostReply(error)}.`));
  }
}

interface Asking {
  readonly given: CommandArguments;
  readonly program: Program;
  readonly questions: AskedQuestions;
}

function printReply({ status, body }: WireReply, { given, program, questions }: Asking): ExitCode {
  if (status !== 200) {
    const isKeyMissing = status === 401 && program.clientSettings.apiKey === undefined;
    throw refusedReply(body, isKeyMissing ? 'UMPIRE_API_KEY takes the key for it.' : '');
  }
  program.writeOut(given.options['json'] ? `${body}\n` : renderAnswers(body, questions.titles));
  return EXIT.done;
}
