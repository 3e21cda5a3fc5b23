// The models that a learning stands on: the base, the embedder where one is wanted, and the learned model that rows are
// added to. What is wrong with them is said before anything is read.

import { existsSync } from 'node:fs';
import { DEFAULT_EMBEDDING_MODEL, DEFAULT_MODEL } from '../../cli/default-model.ts';
import type { Config } from '../../config/schema.ts';
import { LearnError } from '../../learning/learn-error.ts';
import type { LearnOrder } from '../../learning/learn-order.ts';
import type { LearnedModel } from '../../learning/learned-model.ts';
import type { DecisionFolder } from '../../runtime/model-folder/calibrated-folder.ts';
import type { ModelFolder } from '../../runtime/model-folder/manifest.ts';
import { readManifest, readModelFolder } from '../../runtime/model-folder/model-folder.ts';
import { findDecisionFolder, findModelFolders } from '../configured-models.ts';
import { findIdFault } from '../learned/learned-base.ts';
import { isLearnedFolder, type LearnedFolder, readLearnedFolder } from '../learned/learned-folder.ts';
import { placesOf } from '../pull/pulled-places.ts';

export interface LearningModels {
  readonly base: DecisionFolder;
  /** Whether the base's family gives a document's vector. */
  readonly hasVector: boolean;
  readonly embedder: ModelFolder | undefined;
  /** The learned model that rows are added to. */
  readonly former: LearnedFolder | undefined;
  /** What the new one is, but for what is learned. */
  readonly model: Pick<LearnedModel, 'id' | 'base' | 'embedder'>;
}

/** @throws LearnError where it is another model's, or no id at all */
export function requireUsableId(id: string, config: Config): void {
  const fault = findIdFault(id, config);
  if (fault === undefined) return;
  throw new LearnError('model_taken', `No learned model can be named ${JSON.stringify(id)}: ${fault}.`);
}

/** @throws LearnError, StartError */
export async function findLearningModels(order: LearnOrder, config: Config): Promise<LearningModels> {
  const { id, addsRows } = order;
  const { folder } = placesOf(config.dataDir, id);
  const isThere = existsSync(folder);
  if (addsRows && !isThere) {
    throw new LearnError('model_missing', `There is no learned model ${id} to add rows to.`);
  }
  if (isThere && !addsRows && !order.replaces && !order.isTrial) {
    throw new LearnError(
      'model_taken',
      `There is a learned model ${id} already: --more adds these rows to it, --replace learns it anew from them alone.`,
    );
  }
  const former = addsRows ? await readLearnedFolder(folder) : undefined;
  const base = await findBase(order, config, former);
  const hasVector = base.manifest.family === 'split-encoder';
  const usesEmbedder = former === undefined ? order.usesEmbedder || !hasVector : former.model.embedder !== undefined;
  if (order.usesEmbedder && !usesEmbedder) {
    throw new LearnError(
      'base_changed',
      `${id} was learned without the embedder, and rows can only be added as they were: learn it anew with --replace.`,
    );
  }
  const embedder = usesEmbedder ? await findEmbedder(config, former) : undefined;
  const model = { id, base: referTo(base), embedder: embedder && referTo(embedder) };
  return { base, hasVector, embedder, former, model };
}

async function findBase(
  { id, base: wanted }: LearnOrder,
  config: Config,
  former: LearnedFolder | undefined,
): Promise<DecisionFolder> {
  const name = wanted ?? former?.model.base.id ?? DEFAULT_MODEL;
  const place = /^[a-z0-9][a-z0-9._-]*$/.test(name) ? placesOf(config.dataDir, name).folder : name;
  if (existsSync(place) && isLearnedFolder(place)) {
    throw new LearnError('unusable_base', `${name} is a learned model itself: learn on the model that it stands on.`);
  }
  const base = await findDecisionFolder(config, name);
  if (former !== undefined) requireSame('base', former.model.base, base, id);
  return base;
}

async function findEmbedder(config: Config, former: LearnedFolder | undefined): Promise<ModelFolder> {
  const wanted = former?.model.embedder?.id ?? DEFAULT_EMBEDDING_MODEL;
  for (const path of findModelFolders(config)) {
    const { id, type } = await readManifest(path);
    if (id !== wanted || type !== 'embedding') continue;
    const found = await readModelFolder(path);
    if (former?.model.embedder !== undefined) requireSame('embedder', former.model.embedder, found, former.model.id);
    return found;
  }
  throw new LearnError('unusable_base', `The embedder ${wanted} is needed, and it is not among the configured models.`);
}

/** @throws LearnError */
function requireSame(part: string, before: LearnedModel['base'], { manifest, digest }: ModelFolder, id: string): void {
  if (before.id === manifest.id && before.digest === digest) return;
  const why =
    before.id === manifest.id
      ? `has changed since ${id} was learned`
      : `is not ${before.id}, on which ${id} was learned`;
  throw new LearnError(
    'base_changed',
    `The ${part} ${manifest.id} ${why}. Rows cannot be added to what another one has read: learn it anew from all rows, with --replace.`,
  );
}

function referTo({ manifest, digest }: ModelFolder): LearnedModel['base'] {
  return { id: manifest.id, digest };
}
