// `umpire models pull`: somebody else's model into a folder that this server can serve.

import { GRAPH_PRECISIONS } from '../recipe/graph-files.ts';
import { RECIPE_KINDS, STATED_POOLINGS } from '../recipe/recipe.ts';
import { parseCount } from './amounts.ts';
import { type Command, type CommandArguments, type CommandOption, UsageError } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { fetchWithReport } from './fetch-with-report.ts';
import type { PulledModel, PullRequest } from './model-sources.ts';
import { detailsToJson, renderDetails } from './model-text.ts';
import type { Program } from './program.ts';
import { JSON_OPTION, renderJson } from './table.ts';

/** Of pull and inspect alike: what is said instead of the files. */
export const RECIPE_OPTIONS = {
  file: { type: 'string', help: 'A certain graph of the repository', example: 'onnx/model.onnx' },
  precision: {
    type: 'string',
    multiple: true,
    help: 'Graphs of this precision alone; may be given again. fp32 and int8 if left out; fp16 is for devices',
    example: 'int8',
    values: GRAPH_PRECISIONS,
  },
  subfolder: { type: 'string', help: 'The model lies in this folder of the repository', example: 'english' },
  family: {
    type: 'string',
    help: 'What the model is, where its files do not say',
    example: 'reranker',
    values: RECIPE_KINDS,
  },
  pooling: {
    type: 'string',
    help: 'How the vectors of the tokens become one, where no file says it',
    example: 'mean',
    values: STATED_POOLINGS,
  },
  template: {
    type: 'string',
    help: 'The statement that a model of entailment judges, with {option}, {label}, {description}, {instructions}',
    example: '"This text is about {option}."',
  },
  'entailment-index': { type: 'string', help: 'Place of entailment among the labels, from 0', example: '0' },
  'contradiction-index': { type: 'string', help: 'Place of contradiction among them', example: '2' },
  'max-tokens': { type: 'string', help: 'The longest row, where no file says it or less shall do', example: '512' },
  'from-cache': { type: 'boolean', help: "Take the files from the cache of the hub's own tools" },
  offline: { type: 'boolean', help: 'The same: no connection is opened' },
  endpoint: { type: 'string', help: 'Address of the hub', example: 'https://hub.example.com' },
} as const satisfies Readonly<Record<string, CommandOption>>;

export const modelsPullCommand: Command = {
  name: 'models pull',
  group: 'models',
  summary: 'Fetch a model from a hub, check it, and make a model folder of it',
  usage: '<repository[@revision] | folder> [--id …] [--json]',
  options: {
    id: {
      type: 'string',
      help: 'What the model is called here; the name of the repository if left out',
      example: 'my-model',
    },
    ...RECIPE_OPTIONS,
    replace: { type: 'boolean', help: 'Make it anew, though this commit is here: after other options' },
    'accept-licence': { type: 'boolean', help: 'Take a licence that has conditions; recorded with the date' },
    json: JSON_OPTION,
  },
  operands: 'folder',
  notes: `What the model is and how its answers are read comes from its own files, and is shown before anything is written. A bad
quantized graph is refused. The folder lies in the data folder; a server takes it at its next start.
HF_TOKEN, HF_ENDPOINT, HF_HUB_CACHE and the proxies of the environment count, as for the hub's own tools.`,
  examples: [
    {
      text: 'An embedder',
      command: 'umpire models pull Xenova/multilingual-e5-small --pooling mean',
      untested: 'needs a hub; test/process/models-pull.test.ts has one',
    },
    {
      text: 'A zero-shot classifier, at a certain commit',
      command:
        "umpire models pull MoritzLaurer/ModernBERT-base-zeroshot-v2.0@main --template 'This text is about {option}.'",
      untested: 'needs a hub; test/process/models-pull.test.ts has one',
    },
    {
      text: 'An export of your own',
      command: 'umpire models pull ./my-export --id my-model',
      untested: 'needs an export; test/process/models-pull.test.ts makes one',
    },
  ],
  json: {
    isList: false,
    members: [
      'outcome',
      'id',
      'type',
      'family',
      'description',
      'folder',
      'digest',
      'licence',
      'licence_accepted',
      'source',
      'precisions',
      'limits',
      'calibrated',
      'recipe',
      'probe',
    ],
  },
  exits: { 1: 'The model was refused, or could not be fetched.' },
  async run(given, program) {
    return await pull(readRequest(given), given, program);
  },
};

async function pull(request: PullRequest, given: CommandArguments, program: Program): Promise<ExitCode> {
  const sources = await program.openModelSources(given.settings);
  const isJson = given.options['json'] === true;
  return await fetchWithReport(program, { isJson }, async (watch) => {
    const pulled = await sources.pull(request, watch);
    return isJson ? renderJson(toJson(pulled)) : renderPulled(pulled);
  });
}

/** @throws UsageError */
export function readRequest({ options, positionals }: CommandArguments): PullRequest {
  const [source, ...others] = positionals;
  if (source === undefined || source === '' || others.length > 0) {
    throw new UsageError('It takes one repository, such as organisation/name, or one folder.');
  }
  const text = (name: string): string | undefined => {
    const value = options[name];
    return typeof value === 'string' ? value : undefined;
  };
  const place = (name: string): number | undefined => readPlace(text(name), `--${name}`);
  const maxTokens = text('max-tokens');
  const precisions = options['precision'] as readonly string[] | undefined;
  return {
    source,
    id: text('id'),
    isFromCache: options['from-cache'] === true || options['offline'] === true,
    endpoint: text('endpoint'),
    acceptsLicence: options['accept-licence'] === true,
    isAnew: options['replace'] === true,
    choices: {
      file: text('file'),
      subfolder: text('subfolder'),
      hypothesis: text('template'),
      kind: chooseWord(text('family'), RECIPE_KINDS, '--family'),
      pooling: chooseWord(text('pooling'), STATED_POOLINGS, '--pooling'),
      precisions: precisions?.map((word) => chooseWord(word, GRAPH_PRECISIONS, '--precision') ?? 'fp32'),
      entailment: place('entailment-index'),
      contradiction: place('contradiction-index'),
      maxTokens: maxTokens === undefined ? undefined : parseCount(maxTokens, '--max-tokens'),
    },
  };
}

function chooseWord<Word extends string>(
  given: string | undefined,
  words: readonly Word[],
  option: string,
): Word | undefined {
  if (given === undefined) return undefined;
  const word = words.find((candidate) => candidate === given);
  if (word === undefined) throw new UsageError(`${option} takes one of ${words.join(', ')}.`);
  return word;
}

function readPlace(given: string | undefined, option: string): number | undefined {
  if (given === undefined) return undefined;
  if (!/^\d$/.test(given)) throw new UsageError(`${option} takes a place, from 0 on.`);
  return Number(given);
}

function renderPulled({ model, outcome }: PulledModel): string {
  if (outcome === 'present') {
    return `${model.id} is here already, at commit ${model.source?.commit ?? ''}: ${model.folder}. Nothing was fetched.\n`;
  }
  const word = outcome === 'replaced' ? 'Replaced' : 'Pulled';
  return `${renderDetails(model)}\n${word}: ${model.id}. A server takes it at its next start.\n`;
}

function toJson({ model, outcome }: PulledModel): object {
  return { outcome, ...detailsToJson(model) };
}
