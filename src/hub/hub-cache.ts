// The cache that the hub's own tools keep on a machine, read and never written: files that somebody has downloaded already.
// Snapshots are folders of links to blobs, which have the name of their sum; newer tools keep the blobs of all repositories
// in one place, so that a blob may be a link itself.

import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { HubError } from './hub-error.ts';
import { type LocalFile, takeLocalFiles } from './local-files.ts';
import { listFolder } from './local-listing.ts';
import type { FileHash, ModelFiles } from './model-files.ts';
import { readLocalFacts } from './repository-card.ts';
import type { NamedRevision } from './repository-name.ts';

export interface CachedRevision extends NamedRevision {
  /** `HF_HUB_CACHE` */
  readonly cacheFolder: string;
  /** The hub that it is taken to be from: the cache does not say. */
  readonly endpoint: string;
}

const COMMIT_NAME = /^[0-9a-f]{40}$/;
const SHA256_NAME = /^[0-9a-f]{64}$/;

/**
 * Files become hard links to the cache's own where that can be: its blobs never change.
 * @throws HubError when it is not there
 */
export async function readFromCache({ cacheFolder, endpoint, repo, revision }: CachedRevision): Promise<ModelFiles> {
  const repository = join(cacheFolder, `models--${repo.replaceAll('/', '--')}`);
  const commit = await findCommit(repository, { repo, revision });
  const snapshot = join(repository, 'snapshots', commit);
  const root = await realpath(cacheFolder);
  const files = await Promise.all((await listFolder(snapshot)).map((file) => readBlob(file, { root, snapshot })));
  return {
    description: `${repo} at ${commit.slice(0, 12)} in the cache ${cacheFolder}`,
    origin: { endpoint, repo, commit },
    facts: await readLocalFacts(files),
    files,
    take: (paths, options) => takeLocalFiles(files, paths, { ...options, mayLink: true }),
  };
}

async function findCommit(repository: string, { repo, revision }: NamedRevision): Promise<string> {
  const commits = await readdir(join(repository, 'snapshots')).catch((): string[] => []);
  if (commits.length === 0) throw new HubError(`${repo} is not in the cache: there is nothing at ${repository}.`);
  if (commits.includes(revision) && COMMIT_NAME.test(revision)) return revision;
  const reference = join(repository, 'refs', ...revision.split('/'));
  const commit = (await readFile(reference, 'utf8').catch(() => '')).trim();
  if (COMMIT_NAME.test(commit) && commits.includes(commit)) return commit;
  throw new HubError(
    `The cache has no revision ${JSON.stringify(revision)} of ${repo}. It has: ${commits.join(', ')}.`,
  );
}

interface CachePlace {
  readonly root: string;
  readonly snapshot: string;
}

async function readBlob(file: LocalFile, { root, snapshot }: CachePlace): Promise<LocalFile> {
  if (file.fault !== undefined) return file;
  if (!file.realPath.startsWith(root + sep)) return { ...file, fault: 'its link leads out of the cache' };
  // Where links could not be made it is a copy, of which nobody says a sum.
  const blob = await readlink(join(snapshot, file.path)).catch(() => undefined);
  return { ...file, hash: blob === undefined ? undefined : readHashName(basename(blob)) };
}

function readHashName(name: string): FileHash | undefined {
  if (SHA256_NAME.test(name)) return { algorithm: 'sha256', hex: name };
  return COMMIT_NAME.test(name) ? { algorithm: 'git-sha1', hex: name } : undefined;
}
