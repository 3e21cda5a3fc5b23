// One library, written into a folder and compared with what is known of it.

import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../domain/errors.ts';
import { type InstalledFile, PROVIDER_FILE } from '../../runtime/cuda/cuda-folder.ts';
import { StartError } from '../../runtime/start-error.ts';
import { findLibraryFault } from './library-fault.ts';
import type { LibraryBytes } from './library-source.ts';

export interface WritingParts {
  readonly folder: string;
  /** Of the runtime library. */
  readonly version: string;
  /** Whether other bytes than the known ones will do, if they are those of such a library. */
  readonly takesUnpinned: boolean;
  readonly signal: AbortSignal;
}

/** @throws StartError when it is another one; the file system's error; the signal's reason */
export async function writeLibrary(
  library: LibraryBytes,
  pinned: InstalledFile,
  { folder, version, takesUnpinned, signal }: WritingParts,
): Promise<InstalledFile> {
  const { name, from } = library;
  if (!takesUnpinned && library.bytes !== pinned.bytes)
    throw otherLibrary(library, `${library.bytes} bytes instead of ${pinned.bytes}`, version);
  const path = join(folder, name);
  const { bytes, sha256 } = await copyHashed(library, path, signal);
  if (sha256 === pinned.sha256) return pinned;
  if (!takesUnpinned) throw otherLibrary(library, `SHA-256 ${sha256} instead of ${pinned.sha256}`, version);
  const fault = await findLibraryFault(path, name === PROVIDER_FILE ? version : undefined);
  if (fault !== undefined) throw new StartError(`${name} of ${from} cannot be taken: ${fault}.`);
  return { ...pinned, bytes, sha256 };
}

function otherLibrary({ name, from }: LibraryBytes, difference: string, version: string): StartError {
  return new StartError(
    `${name} of ${from} is not the known one (${difference}): it was changed, or is of another version or build. One of ${version} that you trust is taken with --unpinned.`,
  );
}

async function copyHashed(library: LibraryBytes, path: string, signal: AbortSignal) {
  const hash = createHash('sha256');
  const file = await open(path, 'w', 0o644);
  let bytes = 0;
  try {
    for await (const chunk of readWhole(library)) {
      signal.throwIfAborted();
      bytes += chunk.byteLength;
      if (bytes > library.bytes) throw new StartError(`${library.name} of ${library.from} goes on after its end.`);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Tells an archive that is broken apart from a disk that is full. */
async function* readWhole(library: LibraryBytes): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of await library.open()) yield chunk;
  } catch (error) {
    throw new StartError(`${library.name} cannot be read out of ${library.from} (${messageOf(error)}).`, {
      cause: error,
    });
  }
}
