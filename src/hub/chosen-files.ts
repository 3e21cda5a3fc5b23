// The files of a listing that were asked for, or why they cannot be had.

import { HubError } from './hub-error.ts';
import type { RepositoryFile } from './model-files.ts';
import { showPath } from './repository-path.ts';

/**
 * @returns in the order of the paths
 * @throws HubError where one is not there, cannot lie on this machine, or two have one name where case does not count
 */
export function chooseFiles<F extends RepositoryFile>(files: readonly F[], paths: readonly string[]): F[] {
  const names = new Set<string>();
  return paths.map((path) => {
    const file = files.find((candidate) => candidate.path === path);
    if (file === undefined) throw new HubError(`There is no file ${showPath(path)}.`);
    if (file.fault !== undefined) throw new HubError(`The file ${showPath(path)} cannot be taken: ${file.fault}.`);
    const name = path.normalize('NFC').toLowerCase();
    if (names.has(name))
      throw new HubError(`Two of the files have the name ${showPath(path)} where case does not count.`);
    names.add(name);
    return file;
  });
}
