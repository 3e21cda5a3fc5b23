// One pull from its begin to a model folder: what there is, what its files say of it, the files, the probe, the folder.

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelDetails, PulledModel, PullRequest, PullWatcher } from '../../cli/model-sources.ts';
import type { Config } from '../../config/schema.ts';
import type { ModelFiles, TakenFile, TakeProgress } from '../../hub/model-files.ts';
import { RecipeError } from '../../recipe/recipe-error.ts';
import { type FolderOrigin, isCalibrated } from '../../runtime/model-folder/manifest.ts';
import { readManifest, readModelFolder } from '../../runtime/model-folder/model-folder.ts';
import { holdModelLock } from '../../runtime/model-folder/model-lock.ts';
import { listLearnedOn } from '../learned/found-learned-model.ts';
import { cleanPlaces, putInPlace } from './folder-draft.ts';
import { makeFolder } from './made-folder.ts';
import { describeFolder } from './model-details.ts';
import { listOtherChoices } from './other-choices.ts';
import { type PlannedPull, type PullSurroundings, planPull } from './planned-pull.ts';
import { chooseId, openSource } from './pull-source.ts';
import { type PulledPlaces, placesOf } from './pulled-places.ts';

/** @throws HubError, RecipeError, StartError; the signal's reason */
export async function pullModel(
  request: PullRequest,
  around: PullSurroundings,
  watcher: PullWatcher,
): Promise<PulledModel> {
  const source = await openSource(request, around.hub, watcher.signal);
  try {
    const id = chooseId(request, source.name);
    refuseShippedId(id, around.config);
    const places = placesOf(around.config.dataDir, id);
    const lock = await holdModelLock(places.lock, id);
    try {
      await cleanPlaces(places);
      const present = await findPresent(places, source.files, request);
      if (present !== undefined) return { model: present, outcome: 'present' };
      return await replaceModel({ request, files: source.files, id, places, around, watcher });
    } finally {
      lock.release();
    }
  } finally {
    await source.close();
  }
}

interface Replacing {
  readonly request: PullRequest;
  readonly files: ModelFiles;
  readonly id: string;
  readonly places: PulledPlaces;
  readonly around: PullSurroundings;
  readonly watcher: PullWatcher;
}

async function replaceModel({ request, files, id, places, around, watcher }: Replacing): Promise<PulledModel> {
  const { signal, tell } = watcher;
  const planned = await planPull(request, { files, id, folder: places.staging, signal });
  tell({ kind: 'plan', plan: planned.plan });
  requireLicence(planned);
  for (const text of await listLosses(id, places, around.config)) tell({ kind: 'warning', text });
  const { checkRoom } = await import('../../hub/folder-room.ts');
  // A start keeps a second copy of what it runs, in the layout of this machine.
  await checkRoom(
    places.staging,
    planned.recipe.graphs.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  const onProgress = (progress: TakeProgress): void => tell({ kind: 'taking', progress });
  const taken = await files.take(
    planned.plan.files.map(({ path }) => path),
    { folder: places.staging, signal, onProgress },
  );
  const origin = originOf(files, taken);
  await makeFolder({ planned, taken, origin, places, around, watcher });
  const isReplaced = existsSync(places.folder);
  await putInPlace(places);
  await rm(places.staging, { recursive: true, force: true });
  return { model: describeFolder(await readModelFolder(places.folder)), outcome: isReplaced ? 'replaced' : 'pulled' };
}

/** What the users of a model have put into it, or built on it, and another one does not have. */
async function listLosses(id: string, { folder }: PulledPlaces, { dataDir }: Config): Promise<readonly string[]> {
  if (!existsSync(folder)) return [];
  const manifest = await readManifest(folder);
  const learned = await listLearnedOn(dataDir, id);
  return [
    ...(manifest.type === 'decision' && isCalibrated(manifest)
      ? [`${id} as it was is calibrated, and what takes its place is not: umpire calibrate FILE --model ${id}`]
      : []),
    ...(learned.length > 0 ? [`learned on ${id} as it was, and not served beside another: ${learned.join(', ')}`] : []),
  ];
}

/** undefined: a folder of this machine, of which nobody can say again what it held. */
function originOf({ origin }: ModelFiles, taken: readonly TakenFile[]): FolderOrigin | undefined {
  if (origin === undefined) return undefined;
  return { ...origin, files: taken.map(({ path, bytes, sha256 }) => ({ path, size: bytes, sha256 })) };
}

/** @throws RecipeError when its model is another one, or was made by other options */
async function findPresent(
  { folder }: PulledPlaces,
  { origin }: ModelFiles,
  { source, choices, isAnew }: PullRequest,
): Promise<ModelDetails | undefined> {
  if (!existsSync(folder)) return undefined;
  const manifest = await readManifest(folder);
  const { id, source: present } = manifest;
  if (present?.repo !== origin?.repo) {
    const from = present === undefined ? 'a folder' : present.repo;
    throw new RecipeError(
      `There is a model ${id} from ${from} already: give ${source} another id with --id, or remove that one (umpire models remove ${id}).`,
    );
  }
  if (present === undefined || present.commit !== origin?.commit || isAnew) return undefined;
  const others = listOtherChoices(manifest, choices);
  if (others.length > 0) {
    throw new RecipeError(
      `${id} is here already, at this commit, but made otherwise: ${others.join(', ')}. Add --replace to make it anew.`,
    );
  }
  return describeFolder(await readModelFolder(folder));
}

function refuseShippedId(id: string, { modelsDir }: Config): void {
  if (!existsSync(join(modelsDir, id, 'model.json'))) return;
  throw new RecipeError(`${id} is a model of ${modelsDir}: give the pulled one another id with --id.`);
}

function requireLicence({ licence, request, plan }: PlannedPull): void {
  if (licence.condition === undefined || request.acceptsLicence) return;
  throw new RecipeError(
    `The licence of ${plan.source} (${licence.name}) must be accepted: ${licence.condition}. Read it, then add --accept-licence.`,
  );
}
