// Files of one source, brought into a folder one after the other, where there is room for all of them.

import { mkdir } from 'node:fs/promises';
import { countFound, type FetchParts, fetchFile, type HashedFile } from './fetched-file.ts';
import { checkRoom, tellFullDisk } from './folder-room.ts';
import type { TakenFile, TakeOptions } from './model-files.ts';
import { ProgressMeter } from './take-progress.ts';

/** As `ModelFiles.take`. */
export async function takeRemoteFiles(
  files: readonly HashedFile[],
  parts: Omit<FetchParts, 'folder' | 'meter' | 'signal'>,
  { folder, onProgress, signal }: TakeOptions,
): Promise<TakenFile[]> {
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const meter = new ProgressMeter({ totalBytes, onProgress, nowMs: () => performance.now() });
  const taken: TakenFile[] = [];
  try {
    await mkdir(folder, { recursive: true });
    const found = await Promise.all(files.map((file) => countFound(file, folder)));
    await checkRoom(folder, totalBytes - found.reduce((sum, bytes) => sum + bytes, 0));
    for (const file of files) taken.push(await fetchFile(file, { ...parts, folder, meter, signal }));
  } catch (error) {
    throw tellFullDisk(error, folder);
  }
  return taken;
}
