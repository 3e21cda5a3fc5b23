// Where the files of a model are taken from: a hub, the cache of its tools, or a folder of this machine.

import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { PullRequest } from '../../cli/model-sources.ts';
import type { readHubSettings } from '../../config/load.ts';
import { HubError } from '../../hub/hub-error.ts';
import type { ModelFiles } from '../../hub/model-files.ts';

type HubToolSettings = ReturnType<typeof readHubSettings>;

export interface OpenedSource {
  readonly files: ModelFiles;
  /** Of the model, before it is made an id of. */
  readonly name: string;
  close(): Promise<void>;
}

const ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const MOST_CHARACTERS = 64;

/** @throws HubError; the signal's reason */
export async function openSource(
  request: PullRequest,
  settings: HubToolSettings,
  signal: AbortSignal,
): Promise<OpenedSource> {
  const { source } = request;
  const close = async (): Promise<void> => undefined;
  if (isFolder(source)) {
    const { readLocalFolder } = await import('../../hub/local-folder.ts');
    return { files: await readLocalFolder(source), name: basename(resolve(source)), close };
  }
  const { parseRepository } = await import('../../hub/repository-name.ts');
  const named = parseRepository(source);
  const name = named.repo.split('/').at(-1) ?? named.repo;
  const endpoint = request.endpoint ?? settings.endpoint;
  if (request.isFromCache || settings.isOffline) {
    const { readFromCache } = await import('../../hub/hub-cache.ts');
    const { cacheFolder } = settings;
    return { files: await readFromCache({ ...named, cacheFolder, endpoint }), name, close };
  }
  const { openHub } = await import('../../hub/hub.ts');
  const hub = openHub({ ...settings, endpoint });
  try {
    return { files: await hub.describe(named, signal), name, close: () => hub.close() };
  } catch (error) {
    await hub.close();
    throw error;
  }
}

/** @throws HubError when no id can be made of the name */
export function chooseId({ id, choices }: PullRequest, name: string): string {
  const made = [name, choices.subfolder?.replaceAll('/', '-')]
    .filter((part) => part !== undefined)
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, MOST_CHARACTERS);
  const chosen = id ?? made;
  if (ID.test(chosen)) return chosen;
  throw new HubError(
    `${JSON.stringify(chosen)} cannot be the id of a model: lower-case letters, digits, dots, hyphens and underscores, 64 at most. Give one with --id.`,
  );
}

/** A name of a repository never begins like a path. */
function isFolder(source: string): boolean {
  return /^(\.{0,2}[/\\]|\.{1,2}$|[a-z]:[/\\])/i.test(source) || (source.includes('\\') && existsSync(source));
}
