// A hub that models are pulled from: Hugging Face's protocol, at its own address or at a mirror's. The door of this folder
// for whatever needs the network.

import { mkdir } from 'node:fs/promises';
import { chooseFiles } from './chosen-files.ts';
import { HubEndpoint } from './endpoint.ts';
import { countFound, type FetchParts, fetchFile, type HashedFile } from './fetched-file.ts';
import { checkRoom, tellFullDisk } from './folder-room.ts';
import { findRevision, listFiles } from './hub-api.ts';
import { type ConnectionSettings, HubConnections } from './hub-connections.ts';
import { HubError } from './hub-error.ts';
import type { ModelFiles, TakenFile, TakeOptions } from './model-files.ts';
import type { NamedRevision } from './repository-name.ts';
import { ProgressMeter } from './take-progress.ts';
import { type Pause, pauseForReal } from './temporary-fault.ts';

export interface HubSettings extends ConnectionSettings {
  /** Of http or https; may have a path. */
  readonly endpoint: string;
  /** Nothing is asked of anybody. */
  readonly isOffline: boolean;
}

export interface Hub {
  /**
   * What a revision is at this moment: from here on it is one commit, whatever is pushed.
   * @throws HubError; the signal's reason
   */
  describe(named: NamedRevision, signal?: AbortSignal): Promise<ModelFiles>;
  /** What is under way is broken off. */
  close(): Promise<void>;
}

interface OpenHub {
  readonly endpoint: HubEndpoint;
  readonly connections: HubConnections;
  readonly pause: Pause;
}

const SHOWN_DIGITS = 12;

/**
 * Opens no connection by itself.
 * @param parts how one waits between tries
 * @throws HubError when the settings are none
 */
export function openHub(settings: HubSettings, { pause = pauseForReal }: { readonly pause?: Pause } = {}): Hub {
  const endpoint = new HubEndpoint(settings.endpoint);
  const connections = new HubConnections(endpoint, settings);
  const hub = { endpoint, connections, pause };
  return {
    async describe(named, signal) {
      if (settings.isOffline)
        throw new HubError(
          `${named.repo} is not asked for: HF_HUB_OFFLINE is set. What lies in the cache can be taken from there.`,
        );
      return await concealing(hub, () => describeRepository(hub, named, signal));
    },
    close: () => connections.close(),
  };
}

async function describeRepository(
  hub: OpenHub,
  named: NamedRevision,
  signal: AbortSignal | undefined,
): Promise<ModelFiles> {
  const { commit, repo, facts } = await findRevision(named, { ...hub, signal });
  const files = await listFiles(repo, commit, { ...hub, signal });
  const origin = { endpoint: hub.endpoint.address, repo, commit };
  return {
    description: `${repo} at ${commit.slice(0, SHOWN_DIGITS)} of ${origin.endpoint}`,
    origin,
    facts,
    files,
    take: async (paths, options) => {
      const chosen = chooseFiles(files, paths).filter(isHashed);
      return await concealing(hub, () => takeHubFiles(chosen, { ...hub, origin }, options));
    },
  };
}

/** What can be taken has a sum; the list says a fault of what has none. */
function isHashed(file: { readonly hash: HashedFile['hash'] | undefined }): file is HashedFile {
  return file.hash !== undefined;
}

async function takeHubFiles(
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

/** A hub may repeat what it was sent: no message of ours does. */
async function concealing<T>({ connections }: OpenHub, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    throw new HubError(connections.conceal(error.message), { cause: error.cause });
  }
}
