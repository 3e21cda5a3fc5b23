// What a repository's small files say of the model in it: the family, and everything that family must know. Nothing is
// guessed: what no file says is asked of the operator, by the option that answers it.

import { classNames, refuseForeignKinds } from './foreign-kinds.ts';
import {
  chooseGraphs,
  findReferenceGraph,
  type GraphChoice,
  type GraphPrecision,
  listModelFolders,
} from './graph-files.ts';
import { chooseHypothesis } from './hypothesis-file.ts';
import { type EntailmentPlaces, findEntailment, hasEntailment, readLabels, requireOneOrder } from './label-names.ts';
import { MARKER_CONFIG, type MarkerFacts, readMarkerFacts } from './marker-files.ts';
import { readSentenceModules, type SentenceModules, type StatedPooling } from './pooling-files.ts';
import { readPrompts, type StatedPrompts } from './prompt-files.ts';
import { RecipeError } from './recipe-error.ts';
import { RecipeFiles, type RecipeSource, type Sourced } from './recipe-files.ts';
import { readTokenLimits } from './token-limits.ts';

export const RECIPE_KINDS = ['text-encoder', 'entailment', 'reranker', 'marker-encoder'] as const;
export type RecipeKind = (typeof RECIPE_KINDS)[number];
export const STATED_POOLINGS = ['cls', 'mean', 'last'] as const satisfies readonly StatedPooling['pooling'][];

/** What the operator says instead of the files. */
export interface RecipeChoices {
  readonly kind?: RecipeKind | undefined;
  readonly pooling?: StatedPooling['pooling'] | undefined;
  readonly hypothesis?: string | undefined;
  readonly entailment?: number | undefined;
  readonly contradiction?: number | undefined;
  readonly file?: string | undefined;
  readonly precisions?: readonly GraphPrecision[] | undefined;
  readonly subfolder?: string | undefined;
  readonly maxTokens?: number | undefined;
}

/** One line of what the operator is shown before anything is written. */
export interface RecipeFact {
  /** `pooling` */
  readonly what: string;
  readonly value: string;
  /** File and member, or the option. */
  readonly from: string;
}

interface RecipeBase {
  readonly graphs: readonly GraphChoice[];
  /** fp32, which quantized graphs are compared with; undefined: the repository has none. */
  readonly reference: GraphChoice | undefined;
  /** Paths in the repository that go along with the graphs. */
  readonly tokenizerFiles: readonly string[];
  /** The most tokens of a row that the files allow. */
  readonly statedTokens: number;
  readonly facts: readonly RecipeFact[];
}

export interface TextEncoderRecipe extends RecipeBase {
  readonly kind: 'text-encoder';
  readonly modules: SentenceModules;
  /** Chosen on the command line. */
  readonly pooling: StatedPooling | undefined;
  readonly prompts: StatedPrompts;
}

export interface EntailmentRecipe extends RecipeBase {
  readonly kind: 'entailment';
  readonly labels: EntailmentPlaces;
  readonly hypothesis: string;
}

export interface RerankerRecipe extends RecipeBase {
  readonly kind: 'reranker';
}

export interface MarkerRecipe extends RecipeBase {
  readonly kind: 'marker-encoder';
  readonly marker: MarkerFacts;
}

export type Recipe = TextEncoderRecipe | EntailmentRecipe | RerankerRecipe | MarkerRecipe;

/** @throws RecipeError what cannot be taken, and what the files do not say */
export async function readRecipe(source: RecipeSource, choices: RecipeChoices): Promise<Recipe> {
  const files = new RecipeFiles(source, choices.subfolder ?? '');
  if (files.files.length === 0) throw new RecipeError(`The repository has no folder ${choices.subfolder}.`);
  const { value: kind, from } = await detectKind(files, choices);
  const graphs = chooseGraphs(files, choices);
  const base = {
    graphs,
    reference: findReferenceGraph(files, graphs),
    facts: [
      { what: 'family', value: kind, from },
      ...graphs.map(({ precision, path }) => ({ what: `graph ${precision}`, value: path, from: 'listing' })),
    ],
  };
  if (kind === 'marker-encoder') return await markerRecipe(files, base);
  const tokenizerFiles = listTokenizerFiles(files, '');
  const limit = await chooseLimit(files, choices);
  const facts = [...base.facts, { what: 'tokens of a row', value: String(limit.value), from: limit.from }];
  const common = { ...base, tokenizerFiles, statedTokens: limit.value, facts };
  if (kind === 'text-encoder') return await textEncoderRecipe(files, choices, common);
  return kind === 'reranker' ? { ...common, kind } : await entailmentRecipe(files, choices, common);
}

async function detectKind(files: RecipeFiles, choices: RecipeChoices): Promise<Sourced<RecipeKind>> {
  if (choices.kind !== undefined) return { value: choices.kind, from: '--family' };
  if (files.has(MARKER_CONFIG)) return { value: 'marker-encoder', from: MARKER_CONFIG };
  const folders = listModelFolders(files);
  if (!files.has('config.json') && folders.length > 0) {
    throw new RecipeError(`The repository holds models in folders: name one with --subfolder ${folders.join('|')}.`);
  }
  const modules = await readSentenceModules(files);
  await refuseForeignKinds(files, modules.isListed);
  const config = await files.readObject('config.json');
  const classes = classNames(config);
  const labels = readLabels(config);
  if (classes.some((name) => name.endsWith('ForSequenceClassification'))) {
    if (labels.length === 1) return { value: 'reranker', from: 'config.json: architectures, one label' };
    const isChosen = choices.entailment !== undefined;
    if (hasEntailment(labels) || isChosen) {
      return { value: 'entailment', from: isChosen ? '--entailment-index' : 'config.json: id2label' };
    }
    // The one that says which option answers it.
    findEntailment(labels, {});
  }
  if (modules.isListed) return { value: 'text-encoder', from: 'modules.json' };
  if (classes.some((name) => name.endsWith('Model')) || choices.pooling !== undefined) {
    return { value: 'text-encoder', from: 'config.json: architectures' };
  }
  const found = classes.length > 0 ? `config.json names ${classes.join(', ')}` : 'config.json names no architecture';
  throw new RecipeError(`What kind of model this is cannot be told: ${found}. Add --family ${RECIPE_KINDS.join('|')}.`);
}

type Started = Pick<RecipeBase, 'graphs' | 'reference' | 'facts'>;
type Common = Omit<RecipeBase, never>;

async function textEncoderRecipe(
  files: RecipeFiles,
  choices: RecipeChoices,
  common: Common,
): Promise<TextEncoderRecipe> {
  await refuseOtherCase(files);
  const modules = await readSentenceModules(files);
  const prompts = await readPrompts(files);
  const names = Object.keys(prompts.prompts);
  const facts = names.map((name) => ({
    what: name === prompts.defaultName ? `prompt ${name} (default)` : `prompt ${name}`,
    value: JSON.stringify(prompts.prompts[name]),
    from: prompts.from,
  }));
  const pooling = choices.pooling === undefined ? undefined : { pooling: choices.pooling, from: '--pooling' };
  return { ...common, kind: 'text-encoder', modules, prompts, pooling, facts: [...common.facts, ...facts] };
}

async function entailmentRecipe(files: RecipeFiles, choices: RecipeChoices, common: Common): Promise<EntailmentRecipe> {
  const config = await files.readObject('config.json');
  requireOneOrder(config, choices);
  const labels = findEntailment(readLabels(config), choices);
  const hypothesis = chooseHypothesis(config, choices.hypothesis);
  const facts = [
    { what: 'entailment', value: `logit ${labels.entailment} of ${labels.count}`, from: labels.from },
    { what: 'contradiction', value: `logit ${labels.contradiction} of ${labels.count}`, from: labels.from },
    { what: 'statement', value: JSON.stringify(hypothesis.value), from: hypothesis.from },
  ];
  return { ...common, kind: 'entailment', labels, hypothesis: hypothesis.value, facts: [...common.facts, ...facts] };
}

async function markerRecipe(files: RecipeFiles, started: Started): Promise<MarkerRecipe> {
  const marker = await readMarkerFacts(files);
  const facts = [
    { what: 'tokens of a row', value: String(marker.rowTokens), from: `${MARKER_CONFIG}: max_len` },
    { what: 'tokens of a question', value: String(marker.questionTokens), from: `${MARKER_CONFIG}: head_max_len` },
    {
      what: 'marker',
      value: marker.specialTokens.mask,
      from: `${marker.tokenizerFolder}tokenizer_config.json: mask_token`,
    },
  ];
  const tokenizerFiles = listTokenizerFiles(files, marker.tokenizerFolder);
  const statedTokens = marker.rowTokens;
  return {
    ...started,
    kind: 'marker-encoder',
    marker,
    tokenizerFiles,
    statedTokens,
    facts: [...started.facts, ...facts],
  };
}

function listTokenizerFiles(files: RecipeFiles, folder: string): readonly string[] {
  if (!files.has(`${folder}tokenizer.json`)) {
    const other = files.files.map(({ path }) => path).find((path) => /\.(model|spm)$|vocab\.(txt|json)$/.test(path));
    const there = other === undefined ? '' : ` (${other} alone cannot be read)`;
    throw new RecipeError(`The repository has no ${folder}tokenizer.json${there}.`);
  }
  const names = ['tokenizer.json', 'tokenizer_config.json'].map((name) => folder + name);
  return names.filter((name) => files.has(name)).map((name) => files.fullPath(name));
}

async function chooseLimit(files: RecipeFiles, { maxTokens }: RecipeChoices): Promise<Sourced<number>> {
  const [least] = await readTokenLimits(files);
  if (maxTokens !== undefined && (least === undefined || maxTokens <= least.value)) {
    return { value: maxTokens, from: '--max-tokens' };
  }
  if (least === undefined) throw new RecipeError('No file says how many tokens the model reads: add --max-tokens N.');
  if (maxTokens !== undefined) {
    throw new RecipeError(`--max-tokens ${maxTokens} is more than the model reads: ${least.value} (${least.from}).`);
  }
  return least;
}

/** That library lowers the case itself there, which a tokenizer that keeps it would not show. */
async function refuseOtherCase(files: RecipeFiles): Promise<void> {
  const { do_lower_case: lowers } = await files.readObject('sentence_bert_config.json');
  if (lowers !== true) return;
  const { normalizer } = await files.readObject('tokenizer.json');
  const text = JSON.stringify(normalizer ?? null);
  if (/"type":"Lowercase"|"lowercase":true/.test(text)) return;
  throw new RecipeError('sentence_bert_config.json: do_lower_case, which the tokenizer does not do, is not supported.');
}
