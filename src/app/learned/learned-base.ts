// Whether what a learned model stands on is still what it was learned on, and which ids learned models can have.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import type { LearnedModel } from '../../learning/learned-model.ts';
import { manifestBase } from '../../runtime/model-folder/manifest-schema.ts';
import { placesOf } from '../pull/pulled-places.ts';
import { isLearnedFolder } from './learned-folder.ts';

/**
 * @param digests of the models that can be stood on, by id
 * @returns in words without paths; undefined: it can be served
 */
export function findBaseFault(
  { id, base, embedder }: Pick<LearnedModel, 'id' | 'base' | 'embedder'>,
  digests: ReadonlyMap<string, string | undefined>,
): string | undefined {
  for (const [part, stoodOn] of [['base', base] as const, ['embedder', embedder] as const]) {
    if (stoodOn === undefined || digests.get(stoodOn.id) === stoodOn.digest) continue;
    if (!digests.has(stoodOn.id)) return `its ${part} ${stoodOn.id} is not among the models of this server`;
    return `its ${part} ${stoodOn.id} has changed since; learn it again: umpire learn FILE --name ${id}`;
  }
  return undefined;
}

/** Why no learned model can have this id, by the configuration and what lies on the disk; undefined: it can. */
export function findIdFault(id: string, config: Config): string | undefined {
  const { modelsDir, dataDir, upstreams, aliases } = config;
  if (!manifestBase.id.safeParse(id).success) {
    return 'an id has 1 to 64 of a-z, 0-9, ".", "_" and "-", and begins with a letter or digit';
  }
  if (Object.hasOwn(aliases, id)) return `${id} is an alias of ${aliases[id]}`;
  if (upstreams.some(({ models }) => models.some((model) => model.id === id))) return `${id} is a model of an upstream`;
  if (existsSync(join(modelsDir, id, 'model.json'))) return `${id} is a model of ${modelsDir}`;
  const { folder } = placesOf(dataDir, id);
  return existsSync(folder) && !isLearnedFolder(folder) ? `${id} is a pulled model` : undefined;
}
