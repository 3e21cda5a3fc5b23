// The models of a configuration as they lie on disk: their folders, what they say of themselves, and which one is meant.
// Loads none.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { ListedModel } from '../cli/program.ts';
import type { Config } from '../config/schema.ts';
import { messageOf } from '../domain/errors.ts';
import { type DecisionFolder, isDecisionFolder } from '../runtime/model-folder/calibrated-folder.ts';
import { priceOf } from '../runtime/model-folder/manifest.ts';
import { readManifest, readModelFolder } from '../runtime/model-folder/model-folder.ts';
import { StartError } from '../runtime/start-error.ts';
import { listUpstreamModels, priceOfUpstreamModel } from './configured-upstreams.ts';
import { isLearnedFolder, listLearnedFolders } from './learned/learned-folder.ts';
import { listLearnedModels } from './learned/listed-learned-models.ts';
import { pulledModelsDir } from './pull/pulled-places.ts';

/**
 * The configured folders, or every folder with a manifest, by name: those of `modelsDir`, then those that were pulled.
 * Learned models are none of them: they are not loaded, and are served wherever their base is.
 * @throws StartError when there is none
 */
export function findModelFolders({ modelsDir, models, dataDir }: Config): readonly string[] {
  const pulledDir = pulledModelsDir(dataDir);
  if (models !== undefined) {
    const named = models.map((entry) => findNamed(toEntry(entry).folder, modelsDir, pulledDir));
    const loaded = named.filter((folder) => !isLearnedFolder(folder));
    if (loaded.length > 0) return loaded;
    throw new StartError('The setting models names learned models alone. They are served unasked; name their base.');
  }
  const pulled = existsSync(pulledDir) ? listModelFoldersIn(pulledDir).filter((path) => !isLearnedFolder(path)) : [];
  let shipped: readonly string[];
  try {
    shipped = listModelFoldersIn(modelsDir);
  } catch (error) {
    throw new StartError(`The models folder ${modelsDir} cannot be read: ${messageOf(error)}.`);
  }
  if (shipped.length + pulled.length > 0) return [...shipped, ...pulled];
  throw new StartError(`The models folder ${modelsDir} holds no folder with a model.json.`);
}

/** What begins with a dot is being pulled, or was given up. */
function listModelFoldersIn(place: string): readonly string[] {
  const names = readdirSync(place).sort();
  const folders = names.filter((name) => !name.startsWith('.')).map((name) => join(place, name));
  return folders.filter((folder) => isFile(join(folder, 'model.json')));
}

function findNamed(nameOrPath: string, modelsDir: string, pulledDir: string): string {
  const [shipped, pulled] = [resolve(modelsDir, nameOrPath), resolve(pulledDir, nameOrPath)];
  return !existsSync(shipped) && existsSync(pulled) ? pulled : shipped;
}

type ModelEntry = Exclude<NonNullable<Config['models']>[number], string>;

function toEntry(entry: string | ModelEntry): ModelEntry {
  return typeof entry === 'string' ? { folder: entry, load: 'start' } : entry;
}

/** Those of the configured folders that are loaded when they are first asked for. */
export function findLaterFolders({ modelsDir, models = [], dataDir }: Config): readonly string[] {
  const later = models.map(toEntry).filter(({ load }) => load === 'first-use');
  return later.map(({ folder }) => findNamed(folder, modelsDir, pulledModelsDir(dataDir)));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** @throws StartError what is wrong with a folder */
export async function listModels(config: Config): Promise<readonly ListedModel[]> {
  const folders = await Promise.all(findModelFolders(config).map(readModelFolder));
  const later = new Set(findLaterFolders(config));
  const local = folders.map(({ path: source, digest, manifest }) => {
    const { id, type, description, licence, source: origin } = manifest;
    const pulled = origin && { repo: origin.repo, commit: origin.commit };
    const load = later.has(source) ? ('first-use' as const) : ('start' as const);
    return { id, type, description, source, digest, load, licence, ...pulled, price: priceOf(manifest) };
  });
  const upstream = listUpstreamModels(config).map(({ model, names }) => {
    const { id, description } = model;
    return { id, type: 'llm' as const, description, source: names.join(', '), price: priceOfUpstreamModel(model) };
  });
  const learned = await listLearnedModels(config, folders);
  const models: readonly ListedModel[] = [...local, ...learned, ...upstream];
  const aliases = Object.entries(config.aliases).flatMap(([id, modelId]) =>
    models
      .filter((model) => model.id === modelId)
      .map(({ repo: _repo, commit: _commit, base: _base, ...model }) => ({
        ...model,
        id,
        source: `alias of ${modelId}`,
      })),
  );
  return [...models, ...aliases];
}

/** For whoever wants the names alone, and at once: nothing is verified. @throws StartError when a manifest cannot be read */
export async function listModelIds(config: Config): Promise<readonly string[]> {
  const manifests = await Promise.all(findModelFolders(config).map(readManifest));
  const offered = listUpstreamModels(config).map(({ model }) => model.id);
  const learned = listLearnedFolders(config.dataDir).map((path) => basename(path));
  return [...manifests.map(({ id }) => id), ...learned, ...offered, ...Object.keys(config.aliases)];
}

/** By id among the configured models, or by the path of a folder. @throws StartError when there is none, or it is broken */
export async function findDecisionFolder(config: Config, wanted: string): Promise<DecisionFolder> {
  const isFolder = existsSync(join(wanted, 'model.json'));
  const id = new Map(Object.entries(config.aliases)).get(wanted) ?? wanted;
  const paths = isFolder ? [wanted] : findModelFolders(config);
  const manifests = await Promise.all(paths.map(readManifest));
  const place = isFolder ? 0 : manifests.findIndex((manifest) => manifest.id === id);
  // Of this one alone: checksums of large graphs take their time.
  const found = paths[place] === undefined ? undefined : await readModelFolder(paths[place]);
  if (found !== undefined && isDecisionFolder(found)) return found;
  const ids = manifests.filter(({ type }) => type === 'decision').map((manifest) => manifest.id);
  throw new StartError(
    `There is no decision model "${wanted}". Configured: ${ids.join(', ') || 'none'}; or name a model folder.`,
  );
}
