// Where the bytes of a library are read from: an archive (a wheel, a package of NuGet: both are zip files), or the file as it
// is. An archive is read member by member, as a stream.

import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { messageOf } from '../../domain/errors.ts';
import { StartError } from '../../runtime/start-error.ts';
import type { PinnedPackage } from './pinned-package.ts';

export interface LibraryBytes {
  readonly name: string;
  /** Where they lie, for messages. */
  readonly from: string;
  readonly bytes: number;
  open(): Promise<AsyncIterable<Uint8Array>>;
}

export interface LibrarySource {
  /** Members of the package, in its order. */
  readonly libraries: readonly LibraryBytes[];
  close(): void;
}

const ARCHIVE = /\.(whl|nupkg|zip)$/i;
/** The same provider under another roof. */
const NUGET_NAMES: Readonly<Record<string, string>> = { 'onnxruntime-gpu': 'microsoft.ml.onnxruntime.gpu' };

/**
 * @param from a wheel, a package of NuGet, or a folder with such or with the libraries themselves
 * @throws StartError when a library of the package is not there
 */
export async function openLocalSource(from: string, pinned: PinnedPackage): Promise<LibrarySource> {
  const found = await stat(from).catch(() => undefined);
  if (found === undefined) throw new StartError(`There is no file or folder ${from}.`);
  if (!found.isDirectory()) return await openArchive(from, pinned);
  const paths = pinned.members.map(({ name }) => join(from, name));
  if (paths.every((path) => existsSync(path)))
    return { libraries: await Promise.all(paths.map(openFile)), close: () => undefined };
  const archive = findArchive(from, pinned);
  if (archive !== undefined) return await openArchive(join(from, archive), pinned);
  const names = pinned.members.map(({ name }) => name).join(', ');
  throw new StartError(`The folder ${from} has neither ${pinned.file} nor ${names}.`);
}

/** @throws StartError when it is no archive, or a library of the package is not in it once */
export async function openArchive(path: string, { members }: PinnedPackage): Promise<LibrarySource> {
  const zip = await openPromise(path, { autoClose: false }).catch((error: unknown) => {
    throw new StartError(`${path} is no wheel, no package of NuGet, or not all of one (${messageOf(error)}).`);
  });
  try {
    const wanted = new Set(members.map(({ name }) => name));
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) if (wanted.has(basename(entry.fileName))) entries.push(entry);
    return { libraries: members.map(({ name }) => pickMember(name, { path, zip, entries })), close: () => zip.close() };
  } catch (error) {
    zip.close();
    throw error instanceof StartError ? error : new StartError(`${path} cannot be read (${messageOf(error)}).`);
  }
}

interface OpenArchive {
  readonly path: string;
  readonly zip: ZipFile;
  readonly entries: readonly Entry[];
}

function pickMember(name: string, { path, zip, entries }: OpenArchive): LibraryBytes {
  const [entry, ...others] = entries.filter(({ fileName }) => basename(fileName) === name);
  if (entry === undefined)
    throw new StartError(`${path} has no ${name}: it is another package, or for another system.`);
  if (others.length > 0) throw new StartError(`${path} has ${name} more than once.`);
  return { name, from: path, bytes: entry.uncompressedSize, open: () => zip.openReadStreamPromise(entry) };
}

async function openFile(path: string): Promise<LibraryBytes> {
  const { size } = await stat(path);
  return { name: basename(path), from: path, bytes: size, open: async () => createReadStream(path) };
}

/** The wheel by its name, else one of another Python, else the package of NuGet. */
function findArchive(folder: string, { package: name, file }: PinnedPackage): string | undefined {
  const archives = readdirSync(folder).filter((each) => ARCHIVE.test(each));
  const beginning = `${name.replaceAll('-', '_')}-`;
  const others = [beginning, NUGET_NAMES[name] ?? beginning];
  return (
    archives.find((each) => each === file) ??
    archives.find((each) => others.some((start) => each.toLowerCase().startsWith(start)))
  );
}
