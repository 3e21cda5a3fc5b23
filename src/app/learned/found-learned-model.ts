// A learned model that a command names, with the folders of what it stands on.

import { join, resolve } from 'node:path';
import type { VerifiedModel } from '../../cli/program.ts';
import type { Config } from '../../config/schema.ts';
import { type DecisionFolder, isDecisionFolder } from '../../runtime/model-folder/calibrated-folder.ts';
import { readManifest, readModelFolder } from '../../runtime/model-folder/model-folder.ts';
import { StartError } from '../../runtime/start-error.ts';
import { findModelFolders } from '../configured-models.ts';
import { pulledModelsDir } from '../pull/pulled-places.ts';
import { findBaseFault } from './learned-base.ts';
import { type LearnedFolder, listLearnedFolders, readAnyLearned, readLearnedFolder } from './learned-folder.ts';

export interface FoundLearned {
  readonly folder: LearnedFolder;
  readonly base: DecisionFolder;
  /** Folders of everything that it needs. */
  readonly needed: readonly string[];
}

/**
 * @param wanted id, alias, or path of its folder in the data folder
 * @returns undefined: there is no learned model of that name
 * @throws StartError when it is broken, or cannot be served
 */
export async function findLearnedModel(config: Config, wanted: string): Promise<FoundLearned | undefined> {
  const id = new Map(Object.entries(config.aliases)).get(wanted) ?? wanted;
  const places = [join(resolve(pulledModelsDir(config.dataDir)), id), resolve(wanted)];
  const path = listLearnedFolders(config.dataDir).find((each) => places.includes(resolve(each)));
  return path === undefined ? undefined : await standOnBase(config, await readLearnedFolder(path));
}

/** Checksums, heads, and whether it still stands on what it was learned on. @throws StartError */
export async function verifyLearned(config: Config, path: string): Promise<VerifiedModel> {
  const { folder } = await standOnBase(config, await readAnyLearned(path));
  // Heads are no graphs: the thread that answers runs them.
  return { folder: path, id: folder.manifest.id, digest: folder.digest, device: 'cpu' };
}

/** Ids of the learned models of a data folder that need this one, as base or as embedder. Broken ones need none. */
export async function listLearnedOn(dataDir: string, id: string): Promise<readonly string[]> {
  const read = listLearnedFolders(dataDir).map((path) => readLearnedFolder(path).catch(() => undefined));
  const models = (await Promise.all(read)).flatMap((folder) => (folder === undefined ? [] : [folder.model]));
  return models.filter(({ base, embedder }) => base.id === id || embedder?.id === id).map((model) => model.id);
}

async function standOnBase(config: Config, folder: LearnedFolder): Promise<FoundLearned> {
  const { id, base, embedder } = folder.model;
  const ids = [base.id, ...(embedder === undefined ? [] : [embedder.id])];
  const paths = findModelFolders(config);
  const manifests = await Promise.all(paths.map(readManifest));
  // Of these alone: checksums of large graphs take their time.
  const wanted = paths.filter((_, place) => ids.includes(manifests[place]?.id ?? ''));
  const found = await Promise.all(wanted.map(readModelFolder));
  const fault = findBaseFault(folder.model, new Map(found.map(({ manifest, digest }) => [manifest.id, digest])));
  const stoodOn = found.find(({ manifest }) => manifest.id === base.id);
  if (fault === undefined && stoodOn !== undefined && isDecisionFolder(stoodOn)) {
    return { folder, base: stoodOn, needed: wanted };
  }
  throw new StartError(
    `The learned model ${id} cannot be used: ${fault ?? `its base ${base.id} answers no questions`}.`,
  );
}
