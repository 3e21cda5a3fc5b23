// What a pull would do: decided from the small files of a repository, before anything large is fetched.

import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { PullPlan, PullRequest } from '../../cli/model-sources.ts';
import type { readHubSettings } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { isRecord } from '../../domain/json.ts';
import type { ModelFiles, TakenFile } from '../../hub/model-files.ts';
import { describeLicence, type ModelLicence } from '../../recipe/licence.ts';
import { type Recipe, readRecipe } from '../../recipe/recipe.ts';
import { RecipeError } from '../../recipe/recipe-error.ts';
import { listSmallFiles } from '../../recipe/recipe-files.ts';
import type { ModelFolder } from '../../runtime/model-folder/manifest.ts';
import { openTokenizer } from '../../runtime/tokenizer/open-tokenizer.ts';
import { isWordPiece } from '../../runtime/tokenizer/tokenizer.ts';

export interface PullSurroundings {
  readonly config: Config;
  readonly hub: ReturnType<typeof readHubSettings>;
  readonly now: Date;
  /** What one row of one worker may take beside the weights. */
  readonly rowBytes: number;
}

/** What a folder says of its tokenizer. */
type ReadTokenizer = Pick<ModelFolder, 'frames' | 'isWordPiece'>;

/** What is decided before anything large is fetched. */
export interface PlannedPull {
  readonly request: PullRequest;
  readonly files: ModelFiles;
  readonly recipe: Recipe;
  readonly licence: ModelLicence;
  readonly plan: PullPlan;
  /** The small files, in the staging folder. */
  readonly small: readonly TakenFile[];
  readonly tokenizer: ReadTokenizer;
}

/** What a pull would do. The folder is where small files are put. @throws as above */
export async function planPull(
  request: PullRequest,
  { files, id, folder, signal }: { files: ModelFiles; id: string; folder: string; signal: AbortSignal },
): Promise<PlannedPull> {
  const { choices } = request;
  const paths = listSmallFiles(files.files, choices.subfolder ?? '');
  const small = await files.take(paths, { folder, signal });
  const placeOf = new Map(small.map(({ path, localPath }) => [path, localPath]));
  const readText = async (path: string): Promise<string> => {
    const place = placeOf.get(path);
    if (place === undefined) throw new RecipeError(`${path} is too large to be read.`);
    return await readFile(place, 'utf8');
  };
  const recipe = withFolder(await readRecipe({ files: files.files, readText }, choices), request, files);
  const tokenizer = await readTokenizer(recipe, placeOf);
  const licence = describeLicence(files.facts.licence, files.facts.licenceName);
  const wanted = [...recipe.graphs, ...(recipe.reference === undefined ? [] : [recipe.reference])];
  const graphPaths = [...new Set(wanted.flatMap(({ path, data }) => [path, ...data]))];
  const taken = new Set([...graphPaths, ...recipe.tokenizerFiles]);
  const plan = {
    id,
    source: files.description,
    commit: files.origin?.commit,
    licence: licence.name,
    licenceCondition: licence.condition,
    recipe: recipe.facts,
    files: files.files.filter(({ path }) => taken.has(path)).map(({ path, bytes }) => ({ path, bytes })),
  };
  return { request, files, recipe, licence, plan, small, tokenizer };
}

/** A folder of this machine has no commit, and its path alone says where the model was from. */
function withFolder(recipe: Recipe, { source }: PullRequest, { origin }: ModelFiles): Recipe {
  if (origin !== undefined) return recipe;
  return { ...recipe, facts: [{ what: 'taken from', value: resolve(source), from: 'command line' }, ...recipe.facts] };
}

/** Before gigabytes are fetched that nothing here could read. @throws RecipeError, StartError */
async function readTokenizer(recipe: Recipe, placeOf: ReadonlyMap<string, string>): Promise<ReadTokenizer> {
  const path = recipe.tokenizerFiles.find((name) => basename(name) === 'tokenizer.json') ?? 'tokenizer.json';
  const place = placeOf.get(path);
  if (place === undefined) throw new RecipeError(`${path} is too large to be a tokenizer.`);
  const parsed: unknown = await readFile(place, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  if (!isRecord(parsed) || !isRecord(parsed['model'])) throw new RecipeError(`${path} holds no tokenizer.`);
  const tokenizer = await openTokenizer(dirname(place));
  const readsPairs = recipe.kind === 'entailment' || recipe.kind === 'reranker';
  if (readsPairs && tokenizer.frames.pair === undefined) {
    throw new RecipeError(`${path} does not say how two texts are put together, which this model needs.`);
  }
  return { frames: tokenizer.frames, isWordPiece: isWordPiece(tokenizer) };
}
