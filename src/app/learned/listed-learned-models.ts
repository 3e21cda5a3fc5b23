// The learned models of a data folder as commands see them: verified, and held against the models that they stand on.

import { basename } from 'node:path';
import type { ListedModel } from '../../cli/program.ts';
import type { Config } from '../../config/schema.ts';
import { messageOf } from '../../domain/errors.ts';
import { type ModelFolder, priceOf } from '../../runtime/model-folder/manifest.ts';
import { findBaseFault, findIdFault } from './learned-base.ts';
import { type LearnedFolder, listLearnedFolders, readLearnedFolder } from './learned-folder.ts';

export interface CheckedLearned {
  readonly id: string;
  readonly path: string;
  /** undefined: it is broken. */
  readonly folder: LearnedFolder | undefined;
  /** Why a server would not serve it. */
  readonly fault: string | undefined;
}

/** @param loaded every model that a server would load */
export async function checkLearnedModels(
  config: Config,
  loaded: readonly Pick<ModelFolder, 'manifest' | 'digest'>[],
): Promise<readonly CheckedLearned[]> {
  const digests = new Map(loaded.map(({ manifest, digest }) => [manifest.id, digest]));
  return await Promise.all(
    listLearnedFolders(config.dataDir).map(async (path) => {
      const id = basename(path);
      try {
        const folder = await readLearnedFolder(path);
        const taken = digests.has(id) ? `${id} is another model of this server` : findIdFault(id, config);
        return { id, path, folder, fault: taken ?? findBaseFault(folder.model, digests) };
      } catch (error) {
        return { id, path, folder: undefined, fault: messageOf(error) };
      }
    }),
  );
}

export async function listLearnedModels(
  config: Config,
  loaded: readonly Pick<ModelFolder, 'manifest' | 'digest'>[],
): Promise<readonly ListedModel[]> {
  return (await checkLearnedModels(config, loaded)).map(({ id, path: source, folder, fault }) => {
    const told = fault === undefined ? {} : { fault };
    if (folder === undefined) return { id, type: 'decision' as const, description: '', source, ...told };
    const { digest, manifest } = folder;
    const { type, description, licence, base } = manifest;
    return { id, type, description, source, digest, licence, base: base.id, price: priceOf(manifest), ...told };
  });
}
