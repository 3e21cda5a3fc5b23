// How a text's vectors become one, as the files of sentence-transformers say it: modules.json lists the steps, a folder
// for each. Both generations of those files are read.

import { isRecord } from '../domain/json.ts';
import type { Pooling } from '../runtime/model-folder/manifest.ts';
import { RecipeError } from './recipe-error.ts';
import type { RecipeFiles } from './recipe-files.ts';

export interface StatedPooling {
  readonly pooling: Exclude<Pooling, 'graph'>;
  readonly from: string;
}

export interface SentenceModules {
  /** Absent or a refusal: it matters only where the graph gives the vectors of all tokens. */
  readonly pooling: StatedPooling | RecipeError | undefined;
  /** Steps after the pooling that only the graph itself could hold. */
  readonly laterSteps: readonly string[];
  /** Whether tokens of a prompt count for the mean. */
  readonly includePrompt: boolean;
  readonly isListed: boolean;
}

/** What each mode is here. A sum over √n differs from a mean by its length alone, and every vector is normalised. */
const MODES: Readonly<Record<string, StatedPooling['pooling']>> = {
  cls: 'cls',
  cls_token: 'cls',
  mean: 'mean',
  mean_tokens: 'mean',
  mean_sqrt_len: 'mean',
  mean_sqrt_len_tokens: 'mean',
  lasttoken: 'last',
};
const POOLING_FOLDER = '1_Pooling';
const HARMLESS_STEPS = new Set(['Transformer', 'Pooling', 'Normalize', 'Dropout']);
/** They make something else than one vector out of a text's tokens. */
const OTHER_KINDS: Readonly<Record<string, string>> = {
  SpladePooling: 'a sparse model (SPLADE)',
  MLMTransformer: 'a sparse model (SPLADE)',
  SparseStaticEmbedding: 'a sparse model',
  SparseAutoEncoder: 'a sparse model',
  StaticEmbedding: 'a static model without a graph',
  WordEmbeddings: 'a static model without a graph',
  CLIPModel: 'a model of images and texts (CLIP)',
  Router: 'a model with other steps for queries and documents (Router)',
  Asym: 'a model with other steps for queries and documents (Asym)',
  MultiVectorMask: 'a model with a vector for each token (ColBERT)',
};

/** @throws RecipeError when the modules are those of another kind of model */
export async function readSentenceModules(files: RecipeFiles): Promise<SentenceModules> {
  const modules = await listModules(files);
  const other = modules.find(({ step }) => OTHER_KINDS[step] !== undefined);
  if (other !== undefined) {
    throw new RecipeError(`modules.json: ${other.step}: this is ${OTHER_KINDS[other.step]}, which is not supported.`);
  }
  const folder = modules.find(({ step }) => step === 'Pooling')?.path ?? POOLING_FOLDER;
  const path = `${folder}/config.json`;
  const config = await files.readObject(path);
  return {
    pooling: files.has(path) ? readMode(config, path) : undefined,
    laterSteps: modules.map(({ step }) => step).filter((step) => !HARMLESS_STEPS.has(step)),
    includePrompt: config['include_prompt'] !== false,
    isListed: modules.length > 0 || files.has(path),
  };
}

/** Types by their last names: the modules have moved between releases. */
async function listModules(files: RecipeFiles): Promise<{ step: string; path: string }[]> {
  const modules = await files.findJson('modules.json');
  if (modules === undefined) return [];
  if (!Array.isArray(modules)) throw new RecipeError('modules.json holds no list.');
  return modules.filter(isRecord).map(({ type, path }) => ({
    step: String(type).split('.').at(-1) ?? '',
    path: String(path ?? ''),
  }));
}

function readMode(config: Readonly<Record<string, unknown>>, path: string): StatedPooling | RecipeError {
  const stated = config['pooling_mode'];
  const members =
    stated === undefined
      ? Object.keys(config).filter((name) => name.startsWith('pooling_mode_') && config[name] === true)
      : ['pooling_mode'];
  const modes =
    stated === undefined
      ? members.map((name) => name.slice('pooling_mode_'.length))
      : (Array.isArray(stated) ? stated : [stated]).map(String);
  const [mode, ...others] = modes;
  if (mode === undefined) return new RecipeError(`${path} names no pooling.`);
  if (others.length > 0) {
    return new RecipeError(`${path}: ${modes.join(' and ')} together make one longer vector, which is not supported.`);
  }
  const pooling = MODES[mode];
  if (pooling === undefined) return new RecipeError(`${path}: the pooling ${mode} is not supported.`);
  return { pooling, from: `${path}: ${stated === undefined ? members[0] : 'pooling_mode'}` };
}
