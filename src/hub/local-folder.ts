// A folder of this machine as the files of a model: what somebody exported, or brought here by other ways.

import { realpath } from 'node:fs/promises';
import { HubError } from './hub-error.ts';
import { takeLocalFiles } from './local-files.ts';
import { listFolder } from './local-listing.ts';
import type { ModelFiles } from './model-files.ts';
import { readLocalFacts } from './repository-card.ts';

/**
 * Files are copied out of it: whoever made it may go on changing them.
 * @throws HubError when it cannot be read
 */
export async function readLocalFolder(folder: string): Promise<ModelFiles> {
  const place = await realpath(folder).catch((error: unknown) => {
    throw new HubError(`There is no folder ${folder}.`, { cause: error });
  });
  const files = await listFolder(place);
  return {
    description: `the folder ${folder}`,
    origin: undefined,
    facts: await readLocalFacts(files),
    files,
    take: (paths, options) => takeLocalFiles(files, paths, { ...options, mayLink: false }),
  };
}
