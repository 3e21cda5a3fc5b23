// The models of a configuration as they lie on disk: their folders, what they say of themselves, and which one is meant.
// Loads none.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ListedModel } from '../cli/program.ts';
import type { Config } from '../config/schema.ts';
import { messageOf } from '../domain/errors.ts';
import type { DecisionFolder } from '../runtime/model-folder/calibrated-folder.ts';
import { type ModelFolder, priceOf } from '../runtime/model-folder/manifest.ts';
import { readManifest, readModelFolder } from '../runtime/model-folder/model-folder.ts';
import { StartError } from '../runtime/start-error.ts';
import { priceOfUpstreamModel } from './configured-upstreams.ts';

/** The configured folders, or every folder with a manifest, by name. @throws StartError when there is none */
export function findModelFolders({ modelsDir, models }: Config): readonly string[] {
  if (models !== undefined) return models.map((nameOrPath) => resolve(modelsDir, nameOrPath));
  let names: string[];
  try {
    names = readdirSync(modelsDir).sort();
  } catch (error) {
    throw new StartError(`The models folder ${modelsDir} cannot be read: ${messageOf(error)}.`);
  }
  const folders = names.map((name) => join(modelsDir, name)).filter((folder) => isFile(join(folder, 'model.json')));
  if (folders.length === 0) throw new StartError(`The models folder ${modelsDir} holds no folder with a model.json.`);
  return folders;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** @throws StartError what is wrong with a folder */
export async function listModels(config: Config): Promise<readonly ListedModel[]> {
  const folders = await Promise.all(findModelFolders(config).map(readModelFolder));
  const local = folders.map(({ path: source, digest, manifest }) => {
    const { id, type, description } = manifest;
    return { id, type, description, source, digest, price: priceOf(manifest) };
  });
  const upstream = config.upstreams.flatMap(({ name: source, models }) =>
    models.map((model) => {
      const { id, description } = model;
      return { id, type: 'llm' as const, description, source, price: priceOfUpstreamModel(model) };
    }),
  );
  const models: readonly ListedModel[] = [...local, ...upstream];
  const aliases = Object.entries(config.aliases).flatMap(([id, modelId]) =>
    models.filter((model) => model.id === modelId).map((model) => ({ ...model, id, source: `alias of ${modelId}` })),
  );
  return [...models, ...aliases];
}

/** For whoever wants the names alone, and at once: nothing is verified. @throws StartError when a manifest cannot be read */
export async function listModelIds(config: Config): Promise<readonly string[]> {
  const manifests = await Promise.all(findModelFolders(config).map(readManifest));
  const offered = config.upstreams.flatMap(({ models }) => models.map(({ id }) => id));
  return [...manifests.map(({ id }) => id), ...offered, ...Object.keys(config.aliases)];
}

/** By id among the configured models, or by the path of a folder. @throws StartError when there is none, or it is broken */
export async function findDecisionFolder(config: Config, wanted: string): Promise<DecisionFolder> {
  const isFolder = existsSync(join(wanted, 'model.json'));
  const id = new Map(Object.entries(config.aliases)).get(wanted) ?? wanted;
  const folders = await Promise.all((isFolder ? [wanted] : findModelFolders(config)).map(readModelFolder));
  const found = isFolder ? folders[0] : folders.find(({ manifest }) => manifest.id === id);
  if (found !== undefined && isDecisionFolder(found)) return found;
  const ids = folders.filter(isDecisionFolder).map(({ manifest }) => manifest.id);
  throw new StartError(
    `There is no decision model "${wanted}". Configured: ${ids.join(', ') || 'none'}; or name a model folder.`,
  );
}

function isDecisionFolder(folder: ModelFolder): folder is DecisionFolder {
  return folder.manifest.type === 'decision';
}
