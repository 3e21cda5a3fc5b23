// `umpire bench`: how much a server bears, measured from outside as its callers see it.

import { InputFault, openBytes, readLines } from '../client/batch/input-lines.ts';
import { readInputRows } from '../client/batch/input-rows.ts';
import { readRawRows } from '../client/batch/raw-rows.ts';
import { measureLoad } from '../client/load-test/load-figures.ts';
import {
  arrivals,
  type LoadOutcome,
  type LoadRequest,
  runClosedLoop,
  runOpenLoop,
} from '../client/load-test/load-run.ts';
import { sampleText, seededRandom } from '../client/load-test/sample-texts.ts';
import { paceClock } from '../client/pace.ts';
import { connectToServer } from '../client/remote-server.ts';
import { readBatchInput } from './batch-options.ts';
import { describeSeconds } from './batch-progress.ts';
import { findServerUrl, keyAdvice, URL_OPTION } from './choose-server.ts';
import { type Command, type CommandArguments, refusePositionals, UsageError } from './command.ts';
import { DEFAULT_EMBEDDING_MODEL, DEFAULT_MODEL } from './default-model.ts';
import { EXIT } from './exit-codes.ts';
import { CommandError, commandFailure } from './failure.ts';
import { loadReportJson, renderLoadReport } from './load-report.ts';
import type { Program } from './program.ts';
import { readQuestionsFile } from './questions-file.ts';
import { JSON_OPTION, renderJson } from './table.ts';

const TASKS = ['decisions', 'embeddings', 'chat'] as const;
type LoadTask = (typeof TASKS)[number];

const DEFAULTS = { concurrency: 8, duration: 30, warmup: 5, words: 100, 'max-tokens': 64 } as const;
const MOST_ROWS = 10_000;
const SAMPLE_QUESTIONS = JSON.stringify({
  team: {
    type: 'choice',
    instructions: 'Which team should handle this?',
    criteria: { billing: 'payments, refunds', technical: 'bugs, outages', sales: 'prices, contracts', legal: 'claims' },
  },
});

export const benchCommand: Command = {
  name: 'bench',
  group: 'server',
  summary: 'Measure how much a server bears',
  usage: '--url http://… [--rate …] [--task …] [--json]',
  options: {
    url: { ...URL_OPTION, help: 'Server to measure (UMPIRE_URL, key in UMPIRE_API_KEY)' },
    task: {
      type: 'string',
      help: 'decisions, embeddings or chat; decisions if left out',
      example: 'embeddings',
      values: TASKS,
    },
    model: { type: 'string', help: 'Model to ask; chat needs it', example: DEFAULT_MODEL, values: 'model' },
    concurrency: {
      type: 'string',
      help: `Closed loop: clients that each wait for their answer; ${DEFAULTS.concurrency} if left out`,
      example: '16',
    },
    rate: { type: 'string', help: 'Open loop instead: requests a second, whatever becomes of them', example: '20' },
    duration: { type: 'string', help: `Seconds that count; ${DEFAULTS.duration} if left out`, example: '60' },
    warmup: { type: 'string', help: `Seconds before them; ${DEFAULTS.warmup} if left out`, example: '10' },
    words: { type: 'string', help: `Of a text; ${DEFAULTS.words} if left out`, example: '500' },
    input: {
      type: 'string',
      help: 'Texts of your own: .jsonl or .csv, asked in turn',
      example: 'rows.csv',
      values: 'file',
    },
    questions: {
      type: 'string',
      help: 'Questions of your own, as JSON or YAML',
      example: 'questions.yaml',
      values: 'file',
    },
    'max-tokens': {
      type: 'string',
      help: `Of an answer in chat; ${DEFAULTS['max-tokens']} if left out`,
      example: '200',
    },
    json: JSON_OPTION,
  },
  notes: [
    'A closed loop slows down with the server; an open loop does not, as the world does not. Its latency counts from the',
    'moment a request was due. What is measured is billed to the key.',
  ].join('\n'),
  examples: [
    { text: 'Eight clients for half a minute', command: 'umpire bench --url http://127.0.0.1:8080' },
    {
      text: 'Twenty requests a second, long texts',
      command: 'umpire bench --url http://127.0.0.1:8080 --rate 20 --words 500',
    },
  ],
  json: {
    isList: false,
    members: [
      'task',
      'model',
      'concurrency',
      'rate',
      'warm_up_seconds',
      'seconds',
      'requests',
      'answered',
      'cached',
      'refusals',
      'answers_per_second',
      'input_tokens_per_second',
      'output_tokens_per_second',
      'cost_usd',
      'latency_ms',
      'late_p99_ms',
      'slices',
    ],
  },
  exits: { 1: 'Nothing was answered.' },
  async run(given, program) {
    refusePositionals(given);
    const url = findServerUrl(given, program);
    if (url === undefined) throw new UsageError('Which server? Say it with --url or UMPIRE_URL.');
    const load = await readLoad(given);
    const server = connectToServer(url, program.clientSettings.apiKey);
    try {
      const { outcomes, endMs } = await applyLoad(load, server, program);
      const figures = measureLoad(outcomes, { warmUpMs: load.warmUpMs, endMs });
      if (figures.answered === 0) throw nothingAnswered(outcomes, program);
      const { task, model, concurrency, rate, warmUpMs } = load;
      const settings = {
        task,
        model,
        concurrency: rate === undefined ? concurrency : null,
        rate: rate ?? null,
        warm_up_seconds: warmUpMs / 1000,
      };
      const json = renderJson(loadReportJson(settings, figures));
      program.writeOut(given.options['json'] ? json : renderLoadReport(describeLoad(load, figures.seconds), figures));
      return EXIT.done;
    } finally {
      await server.close();
    }
  },
};

interface Load {
  readonly task: LoadTask;
  readonly model: string;
  readonly concurrency: number;
  /** undefined: a closed loop. */
  readonly rate: number | undefined;
  readonly warmUpMs: number;
  readonly durationMs: number;
  readonly next: () => LoadRequest;
  readonly random: () => number;
}

/** @throws UsageError, CommandError */
async function readLoad(given: CommandArguments): Promise<Load> {
  const { task = 'decisions', model, questions, input, rate, concurrency } = given.options;
  if (!isLoadTask(task)) throw new UsageError(`--task is one of ${TASKS.join(', ')}.`);
  if (rate !== undefined && concurrency !== undefined)
    throw new UsageError('A load has --concurrency or --rate, not both.');
  if (task === 'chat' && model === undefined) throw new UsageError('Chat needs --model.');
  const asked = typeof model === 'string' ? model : task === 'embeddings' ? DEFAULT_EMBEDDING_MODEL : DEFAULT_MODEL;
  const random = seededRandom(Date.now());
  const words = numberOf(given, 'words');
  const texts = typeof input === 'string' ? await readTexts(given) : undefined;
  let turn = 0;
  const nextText = (): string => texts?.[turn++ % texts.length] ?? sampleText(words, random);
  const shared = typeof questions === 'string' ? (await readQuestionsFile(questions)).json : SAMPLE_QUESTIONS;
  const maxTokens = numberOf(given, 'max-tokens');
  const next = (): LoadRequest => requestOf(task, { model: asked, text: nextText(), questions: shared, maxTokens });
  return {
    task,
    model: asked,
    concurrency: numberOf(given, 'concurrency'),
    rate: rate === undefined ? undefined : positive(rate, '--rate'),
    warmUpMs: numberOf(given, 'warmup') * 1000,
    durationMs: numberOf(given, 'duration') * 1000,
    next,
    random,
  };
}

function isLoadTask(task: unknown): task is LoadTask {
  return TASKS.some((name) => name === task);
}

function numberOf({ options }: CommandArguments, name: keyof typeof DEFAULTS): number {
  const given = options[name];
  return name === 'warmup' && given === '0' ? 0 : positive(given ?? DEFAULTS[name], `--${name}`);
}

/** @throws UsageError */
function positive(given: unknown, option: string): number {
  const value = /^\d{1,6}(\.\d{1,3})?$/.test(String(given)) ? Number(given) : 0;
  if (value <= 0) throw new UsageError(`${option} takes a number above 0.`);
  return option === '--rate' ? value : Math.ceil(value);
}

async function readTexts(given: CommandArguments): Promise<readonly string[]> {
  const { path, format, delimiter } = readBatchInput(given);
  const texts: string[] = [];
  try {
    for await (const row of readInputRows(readRawRows(readLines(openBytes(path)), format, delimiter), { kept: [] })) {
      if (row instanceof InputFault) throw row;
      if (texts.push(row.text) >= MOST_ROWS) break;
    }
  } catch (error) {
    if (!(error instanceof InputFault)) throw error;
    throw new CommandError(commandFailure('invalid_rows', `${path}: ${error.message}`));
  }
  if (texts.length === 0) throw new CommandError(commandFailure('invalid_rows', `There are no rows in ${path}.`));
  return texts;
}

interface RequestParts {
  readonly model: string;
  readonly text: string;
  readonly questions: string;
  readonly maxTokens: number;
}

function requestOf(task: LoadTask, { model, text, questions, maxTokens }: RequestParts): LoadRequest {
  const head = `{"model":${JSON.stringify(model)}`;
  const content = JSON.stringify(text);
  switch (task) {
    case 'decisions':
      return { path: '/ai/v1/systemone', body: `${head},"state":${content},"questions":${questions}}` };
    case 'embeddings':
      return { path: '/ai/v1/embeddings', body: `${head},"input":${content},"encoding_format":"base64"}` };
    case 'chat': {
      const messages = `[{"role":"user","content":${content}}]`;
      return { path: '/ai/v1/chat/completions', body: `${head},"max_tokens":${maxTokens},"messages":${messages}}` };
    }
  }
}

async function applyLoad(load: Load, server: ReturnType<typeof connectToServer>, program: Program) {
  const { rate, concurrency, next, random } = load;
  const outcomes: LoadOutcome[] = [];
  const stop = new AbortController();
  const forget = program.onInterrupt(() => stop.abort());
  const beginMs = paceClock.nowMs();
  const wholeMs = load.warmUpMs + load.durationMs;
  const options = {
    server,
    next,
    clock: paceClock,
    durationMs: wholeMs,
    onOutcome: (outcome: LoadOutcome) => outcomes.push(outcome),
    signal: stop.signal,
  };
  try {
    if (rate === undefined) await runClosedLoop(options, concurrency);
    else await runOpenLoop(options, arrivals(rate, wholeMs, random));
    return { outcomes, endMs: stop.signal.aborted ? paceClock.nowMs() - beginMs : wholeMs };
  } finally {
    forget();
  }
}

function nothingAnswered(outcomes: readonly LoadOutcome[], program: Program): CommandError {
  const { code = 'it was stopped before', status = 0 } = outcomes.at(-1) ?? {};
  const advice = code === 'model_type_mismatch' ? OTHER_TASK : keyAdvice(status, program);
  return new CommandError(commandFailure('no_answer', `No request was answered: ${code}. ${advice}`.trimEnd()));
}

const OTHER_TASK = `The model is of another type than the task: --task is one of ${TASKS.join(', ')}.`;

function describeLoad({ task, model, concurrency, rate, warmUpMs }: Load, seconds: number): string {
  const loop = rate === undefined ? `Closed loop, ${concurrency} clients` : `Open loop, ${rate} requests a second`;
  return `${loop}: ${task} by ${model}, ${describeSeconds(seconds)} after ${describeSeconds(warmUpMs / 1000)} of warm-up.`;
}
