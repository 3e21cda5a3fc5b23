// One file that nobody changes any more, brought here by HTTP: gone on with wherever an earlier try ended, in this process or another, and
// given its name only when its bytes are those that the list of files names.

import { type FileHandle, open, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { ContentHash, readChunks } from './content-hash.ts';
import { connectionFault, type HubAnswer, type HubConnections } from './hub-connections.ts';
import { HubError } from './hub-error.ts';
import type { FileHash, RepositoryFile, TakenFile } from './model-files.ts';
import { showPath } from './repository-path.ts';
import { settleFile } from './settled-file.ts';
import type { ProgressMeter } from './take-progress.ts';
import { Patience, type Pause, TemporaryFault } from './temporary-fault.ts';

/** Less than that between two faults is no progress: who sends byte by byte is given up. */
const PROGRESS_BYTES = 1024 * 1024;

export interface HashedFile extends RepositoryFile {
  readonly hash: FileHash;
}

/** Whoever has the files. */
export interface FileSource {
  /** For messages. */
  readonly address: string;
  /** Of the files, where their source has commits and names them. */
  readonly commit?: string;
  urlOf(path: string): URL;
  /** What an answer means that is neither the file nor its rest. @returns HubError, or TemporaryFault */
  explain(answer: HubAnswer, path: string): Error;
}

export interface FetchParts {
  readonly source: FileSource;
  readonly connections: HubConnections;
  readonly folder: string;
  readonly meter: ProgressMeter;
  readonly pause: Pause;
  readonly signal: AbortSignal | undefined;
}

/** Bytes of a file that an earlier run left, verified or not. */
export async function countFound(file: HashedFile, folder: string): Promise<number> {
  const sizes = [placeOf(file, folder), partialOf(file, folder)].map((path) => findSize(path));
  const [whole, partial = 0] = await Promise.all(sizes);
  return whole === file.bytes ? whole : partial <= file.bytes ? partial : 0;
}

function placeOf({ path }: HashedFile, folder: string): string {
  return join(folder, path);
}

function partialOf({ hash }: HashedFile, folder: string): string {
  return join(folder, `${hash.hex}.partial`);
}

/** @returns undefined: there is no such file */
async function findSize(path: string): Promise<number | undefined> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isFile() ? stats.size : undefined;
}

/** @throws HubError; the signal's reason. What has come by then stays for the next try. */
export async function fetchFile(file: HashedFile, parts: FetchParts): Promise<TakenFile> {
  const { path, bytes } = file;
  const localPath = placeOf(file, parts.folder);
  const found = await findWhole(file, parts);
  if (found !== undefined) return { path, localPath, bytes, sha256: found };
  const partial = partialOf(file, parts.folder);
  let wasBegun = (await findSize(partial)) ?? 0;
  for (;;) {
    const { sha256, isExpected } = await fetchPartial(file, partial, parts);
    if (isExpected) {
      await settleFile(partial, localPath);
      parts.meter.end(path);
      return { path, localPath, bytes, sha256 };
    }
    await rm(partial);
    parts.meter.addFound(path, -bytes);
    // What lay there may have been spoilt by a loss of power; what came just now was not.
    if (wasBegun === 0)
      throw new HubError(
        `${showPath(path)} came from ${parts.source.address} with other bytes than its list of files names (${file.hash.algorithm}).`,
      );
    wasBegun = 0;
  }
}

/** @returns the SHA-256 of the file that an earlier run brought here whole; whatever else has its name is removed */
async function findWhole(file: HashedFile, { folder, meter, signal }: FetchParts): Promise<string | undefined> {
  const place = placeOf(file, folder);
  if ((await findSize(place)) === file.bytes) {
    const content = await hashFile(place, file, signal);
    const { sha256, isExpected } = content.finish();
    if (isExpected) {
      meter.addFound(file.path, file.bytes);
      return sha256;
    }
  }
  await rm(place, { force: true, recursive: true });
  return undefined;
}

async function hashFile(path: string, file: HashedFile, signal: AbortSignal | undefined): Promise<ContentHash> {
  const content = new ContentHash(file.hash, file.bytes);
  for await (const chunk of readChunks(path, signal)) content.add(chunk);
  return content;
}

/** Until the partial file has as many bytes as the file. */
async function fetchPartial(file: HashedFile, partial: string, parts: FetchParts) {
  const { meter, pause, signal } = parts;
  if (((await findSize(partial)) ?? 0) > file.bytes) await truncate(partial);
  const handle = await open(partial, 'a');
  try {
    const growing = new GrowingFile(file, handle, await hashFile(partial, file, signal));
    meter.addFound(file.path, growing.bytes);
    const patience = new Patience({ pause, signal, onWait: (waitMs) => meter.wait(file.path, waitMs) });
    let renewedAt = growing.bytes;
    while (growing.bytes < file.bytes) {
      try {
        await fetchRest(growing, parts);
      } catch (error) {
        if (!(error instanceof TemporaryFault)) throw error;
        if (growing.bytes - renewedAt >= PROGRESS_BYTES) patience.renew();
        renewedAt = growing.bytes;
        await patience.wait(error);
      }
    }
    return growing.finish();
  } finally {
    await handle.close();
  }
}

/** A file that is only ever written at its end, hashed as it grows. */
class GrowingFile {
  readonly file: HashedFile;
  readonly #handle: FileHandle;
  #content: ContentHash;

  constructor(file: HashedFile, handle: FileHandle, content: ContentHash) {
    this.file = file;
    this.#handle = handle;
    this.#content = content;
  }

  get bytes(): number {
    return this.#content.bytes;
  }

  async append(chunk: Uint8Array): Promise<void> {
    await this.#handle.appendFile(chunk);
    this.#content.add(chunk);
  }

  async restart(): Promise<void> {
    await this.#handle.truncate();
    this.#content = new ContentHash(this.file.hash, this.file.bytes);
  }

  finish() {
    return this.#content.finish();
  }
}

/** @throws TemporaryFault when it ended before its time */
async function fetchRest(growing: GrowingFile, parts: FetchParts): Promise<void> {
  const { source, connections, meter, signal } = parts;
  const { path, bytes } = growing.file;
  const url = source.urlOf(path);
  const answer = await connections.ask({ url, fromByte: growing.bytes, signal, mayLeave: true });
  try {
    if (answer.status === 416 && growing.bytes > 0) {
      meter.addFound(path, -growing.bytes);
      await growing.restart();
      throw new TemporaryFault(`${source.address} has no rest of ${showPath(path)} (status 416).`, { waitMs: 0 });
    }
    if (answer.status !== 200 && answer.status !== 206) throw source.explain(answer, path);
    checkAnswer(answer, growing, source);
    // The whole file came, though only its rest was asked for.
    if (answer.status === 200 && growing.bytes > 0) {
      meter.addFound(path, -growing.bytes);
      await growing.restart();
    }
    for await (const chunk of readBody(answer, url.host, signal)) {
      if (growing.bytes + chunk.byteLength > bytes) throw new HubError(`${showPath(path)} goes on after its end.`);
      await growing.append(chunk);
      meter.add(path, chunk.byteLength);
    }
  } finally {
    answer.body.destroy();
  }
  if (growing.bytes < bytes)
    throw new TemporaryFault(
      `${answer.otherHost ?? url.host} broke off ${showPath(path)} at ${growing.bytes} of ${bytes} bytes.`,
    );
}

/** Whether it is the file that was listed, and what of it comes. @throws HubError before a byte of it is kept */
function checkAnswer({ status, headers, ownHeaders }: HubAnswer, growing: GrowingFile, { commit }: FileSource): void {
  const { path, bytes, hash } = growing.file;
  const refuse = (why: string): never => {
    throw new HubError(`The answer for ${showPath(path)} is not the file of the list: ${why}.`);
  };
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') refuse(`it is packed (${encoding}), though that was not asked for`);
  const ownCommit = ownHeaders['x-repo-commit'];
  if (ownCommit !== undefined && commit !== undefined && ownCommit !== commit) refuse('it is of another commit');
  const linkedSize = ownHeaders['x-linked-size'];
  if (linkedSize !== undefined && Number(linkedSize) !== bytes)
    refuse(`it has ${linkedSize} bytes instead of ${bytes}`);
  const linkedHash = ownHeaders['x-linked-etag']?.replace(/^W\//, '').replaceAll('"', '');
  if (
    hash.algorithm === 'sha256' &&
    linkedHash !== undefined &&
    /^[0-9a-f]{64}$/.test(linkedHash) &&
    linkedHash !== hash.hex
  )
    refuse('it has another sum');
  if (status === 200) {
    const length = headers['content-length'];
    if (length !== undefined && Number(length) !== bytes) refuse(`it has ${length} bytes instead of ${bytes}`);
    return;
  }
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
  if (Number(start) !== growing.bytes) refuse('another part of it came than was asked for');
  if (total !== '*' && Number(total) !== bytes) refuse(`it has ${total} bytes instead of ${bytes}`);
}

/** Tells a connection that broke off apart from a disk that is full. */
async function* readBody(
  { body, otherHost }: HubAnswer,
  host: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
  } catch (error) {
    signal?.throwIfAborted();
    throw connectionFault(error, otherHost ?? host);
  }
}
