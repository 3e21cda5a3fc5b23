// Puts the runtime library beside its CUDA provider, and NVIDIA's libraries before it. Has to be done before anything of
// the process loads the runtime library: from then on it lies where it was loaded from.

import { realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../domain/errors.ts';
import { RUNTIME_FILE } from './cuda-folder.ts';
import { type FoundCuda, findRuntimeFile } from './find-cuda.ts';
import { keepLoaded } from './load-library.ts';

/** @returns what was found, or why it is of no use */
export function preloadCuda(found: FoundCuda): FoundCuda {
  if (!('provider' in found) || found.folder === undefined) return found;
  try {
    const fault = keepLoaded(linkRuntime(found.folder));
    if (fault !== undefined) return { reason: fault, isAbsent: false };
  } catch (error) {
    return { reason: messageOf(error), isAbsent: false };
  }
  // One that cannot be loaded is missed by the provider, and told then.
  for (const library of found.libraries) keepLoaded(library);
  return found;
}

/**
 * A folder may have been filled by another copy of this program, whose runtime library is elsewhere.
 * @returns the link @throws Error when it leads elsewhere and cannot be made anew
 */
export function linkRuntime(folder: string, file = findRuntimeFile()): string {
  const link = join(folder, RUNTIME_FILE);
  if (file === undefined) throw new Error(`there is no ${RUNTIME_FILE} of this system`);
  if (realPathOf(link) === realpathSync(file)) return link;
  const fresh = `${link}.${process.pid}-${crypto.randomUUID()}`;
  try {
    symlinkSync(file, fresh);
    renameSync(fresh, link);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw new Error(
      `${link} leads to no runtime library of this program, and cannot be made anew (${messageOf(error)})`,
      {
        cause: error,
      },
    );
  }
  return link;
}

function realPathOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}
