// `umpire embed`: the vector of a text, or of each row of a file, from a server or an engine in this process.

import {
  type EmbeddingAsking,
  embeddingTask,
  type VectorForm,
  writeEmbeddingRequest,
  writeVectorAs,
} from '../client/batch/embedding-task.ts';
import { parsePlainJson } from '../domain/json.ts';
import { runBatchCommand } from './batch-command.ts';
import { BATCH_OPTIONS, isBatch, readBatchFiles } from './batch-options.ts';
import { chooseServer, postOnce, refusal, URL_OPTION } from './choose-server.ts';
import { type Command, type CommandArguments, UsageError } from './command.ts';
import { DEFAULT_EMBEDDING_MODEL } from './default-model.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { Program } from './program.ts';
import { readTextFile } from './text-file.ts';

const VECTOR_FORMS = ['float', 'base64'] as const;

export const embedCommand: Command = {
  name: 'embed',
  group: 'ask',
  summary: 'Turn a text, or each row of a file, into a vector',
  usage: '[file] | --text "…" | --input … --output … [--json]',
  options: {
    text: { type: 'string', help: 'The text itself, instead of a file', example: '"I was charged twice"' },
    model: {
      type: 'string',
      help: `Model to ask; ${DEFAULT_EMBEDDING_MODEL} if left out`,
      example: DEFAULT_EMBEDDING_MODEL,
      values: 'model',
    },
    url: URL_OPTION,
    vectors: {
      type: 'string',
      help: 'float: lists of numbers, the default; base64: little-endian float32',
      example: 'base64',
      values: VECTOR_FORMS,
    },
    dimensions: { type: 'string', help: 'Only the first ones, normalised again', example: '128' },
    truncate: { type: 'boolean', help: 'Read only the beginning of a text that is too long' },
    ...BATCH_OPTIONS,
    json: { type: 'boolean', help: "Print the server's reply as it is; of a batch, its figures" },
  },
  operands: 'file',
  notes: [
    'The text is a file, or standard input when none is named; its vector is one line of JSON.',
    'With --input and --output each row of a file has its own. The same command again goes on where it stopped.',
  ].join('\n'),
  examples: [
    { text: 'One text, in this process', command: 'umpire embed --text "I was charged twice."' },
    { text: 'Each row of a file', command: 'umpire embed --input rows.csv --output vectors.jsonl --vectors base64' },
  ],
  json: { isList: false, members: ['object', 'data', 'model', 'usage'] },
  exits: {
    1: 'The server refused, or did not answer.',
    3: 'A batch is complete, and some rows have an error instead of a vector.',
  },
  async run(given, program) {
    const asking = readAsking(given);
    const form = readForm(given);
    if (isBatch(given)) return await embedRows(given, program, { asking, form });
    const text = await readGivenText(given, program);
    const server = await chooseServer(given, program);
    try {
      const reply = await postOnce(server, '/ai/v1/embeddings', writeEmbeddingRequest(asking, [text]));
      if (reply.status !== 200) throw refusal(reply, program);
      const { data } = parsePlainJson(reply.body) as { data: readonly { embedding: string }[] };
      program.writeOut(
        given.options['json'] ? `${reply.body}\n` : `${writeVectorAs(data[0]?.embedding ?? '', form)}\n`,
      );
      return EXIT.done;
    } finally {
      await server.close();
    }
  },
};

async function embedRows(
  given: CommandArguments,
  program: Program,
  { asking, form }: { readonly asking: EmbeddingAsking; readonly form: VectorForm },
): Promise<ExitCode> {
  if (given.options['text'] !== undefined || given.positionals.length > 0) {
    throw new UsageError('The texts are one of --text, a file or the rows of --input.');
  }
  const files = readBatchFiles(given);
  const { model, ...rest } = asking;
  const task = embeddingTask(asking, form);
  const work = { command: 'embed', task, model, questions: JSON.stringify(rest), form } as const;
  return await runBatchCommand(given, program, { files, work });
}

async function readGivenText({ options, positionals }: CommandArguments, program: Program): Promise<string> {
  const [file, ...others] = positionals;
  const { text } = options;
  if (others.length > 0) throw new UsageError('There can be one text. Put it in quotes after --text.');
  if (typeof text === 'string' && file !== undefined) throw new UsageError('The text is a file or --text, not both.');
  if (typeof text === 'string') return text;
  return file === undefined || file === '-' ? await program.readStdin() : await readTextFile(file);
}

function readAsking({ options }: CommandArguments): EmbeddingAsking {
  const { model, dimensions, truncate } = options;
  if (dimensions !== undefined && !/^[1-9]\d{0,5}$/.test(String(dimensions))) {
    throw new UsageError('--dimensions takes a whole number from 1 on.');
  }
  return {
    model: typeof model === 'string' ? model : DEFAULT_EMBEDDING_MODEL,
    dimensions: dimensions === undefined ? undefined : Number(dimensions),
    truncate: truncate === true,
  };
}

function readForm({ options }: CommandArguments): VectorForm {
  const { vectors = 'float' } = options;
  if (vectors !== 'float' && vectors !== 'base64') throw new UsageError('--vectors is float or base64.');
  return vectors;
}
