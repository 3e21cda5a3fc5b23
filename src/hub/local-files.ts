// Taking files that lie on this machine already: copied, or linked where their owner never changes them, and hashed in
// either case.

import { link, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { chooseFiles } from './chosen-files.ts';
import { ContentHash, readChunks } from './content-hash.ts';
import { checkRoom, tellFullDisk } from './folder-room.ts';
import { HubError } from './hub-error.ts';
import type { RepositoryFile, TakenFile, TakeOptions } from './model-files.ts';
import { showPath } from './repository-path.ts';
import { settleFile } from './settled-file.ts';
import { ProgressMeter } from './take-progress.ts';

export interface LocalFile extends RepositoryFile {
  /** Where its bytes lie, through no link. */
  readonly realPath: string;
}

export interface LocalTaking extends TakeOptions {
  /** Whether the files may be the same on disk: nobody changes them there. Where it cannot be done they are copied. */
  readonly mayLink: boolean;
}

/** What a link fails with where only a copy will do: another disk, a file of another user, a disk without links. */
const CANNOT_LINK = ['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'];

/** As `ModelFiles.take`. */
export async function takeLocalFiles(
  files: readonly LocalFile[],
  paths: readonly string[],
  options: LocalTaking,
): Promise<TakenFile[]> {
  const chosen = chooseFiles(files, paths);
  const totalBytes = chosen.reduce((sum, { bytes }) => sum + bytes, 0);
  const { folder, onProgress } = options;
  const meter = new ProgressMeter({ totalBytes, onProgress, nowMs: () => performance.now() });
  await mkdir(folder, { recursive: true });
  if (!options.mayLink) await checkRoom(folder, totalBytes);
  const taken: TakenFile[] = [];
  try {
    for (const file of chosen) taken.push(await takeLocalFile(file, options, meter));
  } catch (error) {
    throw tellFullDisk(error, folder);
  }
  return taken;
}

async function takeLocalFile(file: LocalFile, options: LocalTaking, meter: ProgressMeter): Promise<TakenFile> {
  const { path, realPath, bytes, hash } = file;
  const localPath = join(options.folder, path);
  const partial = `${localPath}.partial`;
  await mkdir(dirname(localPath), { recursive: true });
  await rm(partial, { force: true });
  const content = new ContentHash(hash, bytes);
  const isLinked = options.mayLink && (await tryLink(realPath, partial));
  const copy = isLinked ? undefined : await open(partial, 'wx');
  try {
    for await (const chunk of readChunks(realPath, options.signal)) {
      await copy?.writeFile(chunk);
      content.add(chunk);
      meter.add(path, chunk.byteLength);
    }
  } finally {
    await copy?.close();
  }
  const { sha256, isExpected } = content.finish();
  if (content.bytes !== bytes || !isExpected) {
    await rm(partial);
    throw new HubError(
      `The file ${showPath(path)} at ${realPath} is not what its name in the cache says, or changed meanwhile.`,
    );
  }
  await settleFile(partial, localPath);
  meter.end(path);
  return { path, localPath, bytes, sha256 };
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && CANNOT_LINK.includes(String(error.code))) return false;
    throw error;
  }
}
