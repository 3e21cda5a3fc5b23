// What commands ask of pulled models: pull, look, remove. Loaded only for them: a server has nothing of this in memory.

import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelDetails, ModelSources, PullPlan, PullRequest } from '../../cli/model-sources.ts';
import { HubError } from '../../hub/hub-error.ts';
import { readModelFolder } from '../../runtime/model-folder/model-folder.ts';
import { holdModelLock } from '../../runtime/model-folder/model-lock.ts';
import { StartError } from '../../runtime/start-error.ts';
import { findModelFolders } from '../configured-models.ts';
import { listLearnedOn } from '../learned/found-learned-model.ts';
import { findLearnedDetails } from '../learned/learned-details.ts';
import { describeFolder } from './model-details.ts';
import { type PullSurroundings, planPull } from './planned-pull.ts';
import { pullModel } from './pull-model.ts';
import { chooseId, openSource } from './pull-source.ts';
import { placesOf, pulledModelsDir } from './pulled-places.ts';

export function createModelSources(around: PullSurroundings): ModelSources {
  return {
    pull: (request, watcher) => pullModel(request, around, watcher),
    inspect: (request, signal) => inspect(request, around, signal),
    findPulled: async (id) => {
      const folder = findPulledFolder(id, around);
      return { folder, bytes: await sizeOf(folder), learnedOn: await listLearnedOn(around.config.dataDir, id) };
    },
    remove: (id) => remove(id, around),
  };
}

async function inspect(
  request: PullRequest,
  around: PullSurroundings,
  signal: AbortSignal,
): Promise<ModelDetails | PullPlan> {
  const here = await findHere(request.source, around);
  if (here !== undefined) return here;
  const source = await openSource(request, around.hub, signal).catch((error: unknown) => {
    throw tellNotHere(request.source, error);
  });
  const folder = await mkdtemp(join(tmpdir(), 'umpire-inspect-'));
  try {
    const id = chooseId(request, source.name);
    return (await planPull(request, { files: source.files, id, folder, signal })).plan;
  } finally {
    await source.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A name alone was rather meant as an id. */
function tellNotHere(source: string, error: unknown): unknown {
  if (!(error instanceof HubError) || source.includes('/')) return error;
  return new HubError(`No model here has the id ${source}. As a repository: ${error.message}`, { cause: error });
}

/** A folder of a model, or the id of a configured one. @throws StartError when its folder is broken */
async function findHere(source: string, { config }: PullSurroundings): Promise<ModelDetails | undefined> {
  const learned = await findLearnedDetails(config, source);
  if (learned !== undefined) return learned;
  if (existsSync(join(source, 'model.json'))) return describeFolder(await readModelFolder(source));
  if (source.includes('/')) return undefined;
  for (const folder of findModelFolders(config)) {
    const found = await readModelFolder(folder);
    if (found.manifest.id === source) return describeFolder(found);
  }
  return undefined;
}

/** @throws StartError */
function findPulledFolder(id: string, { config }: PullSurroundings): string {
  const { folder } = placesOf(config.dataDir, id);
  const isName = /^[a-z0-9][a-z0-9._-]*$/.test(id);
  if (isName && existsSync(join(folder, 'model.json'))) return folder;
  if (isName && existsSync(join(config.modelsDir, id, 'model.json'))) {
    throw new StartError(`${id} is a model of ${config.modelsDir}, which no pull has put there: it stays.`);
  }
  throw new StartError(
    `There is no pulled or learned model ${JSON.stringify(id)} in ${pulledModelsDir(config.dataDir)}.`,
  );
}

async function remove(id: string, around: PullSurroundings): Promise<void> {
  const folder = findPulledFolder(id, around);
  const places = placesOf(around.config.dataDir, id);
  const lock = await holdModelLock(places.lock, id);
  try {
    // Gone at once, whatever happens while its files are deleted.
    await rename(folder, places.draft);
    await rm(places.draft, { recursive: true });
    await rm(places.staging, { recursive: true, force: true });
  } finally {
    lock.release();
  }
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
