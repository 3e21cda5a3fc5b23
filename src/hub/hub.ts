// A hub that models are pulled from: Hugging Face's protocol, at its own address or at a mirror's. The door of this folder
// for whatever needs the network.

import { chooseFiles } from './chosen-files.ts';
import { HubEndpoint } from './endpoint.ts';
import type { FileSource, HashedFile } from './fetched-file.ts';
import { findRevision, listFiles } from './hub-api.ts';
import { type ConnectionSettings, HubConnections } from './hub-connections.ts';
import { HubError } from './hub-error.ts';
import type { ModelFiles, RepositoryCommit } from './model-files.ts';
import { explainRefusal } from './refused-answer.ts';
import { takeRemoteFiles } from './remote-files.ts';
import type { NamedRevision } from './repository-name.ts';
import { showPath } from './repository-path.ts';
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
      const parts = { ...hub, source: sourceOf(hub, origin) };
      return await concealing(hub, () => takeRemoteFiles(chosen, parts, options));
    },
  };
}

/** What can be taken has a sum; the list says a fault of what has none. */
function isHashed(file: { readonly hash: HashedFile['hash'] | undefined }): file is HashedFile {
  return file.hash !== undefined;
}

function sourceOf({ endpoint, connections }: OpenHub, origin: RepositoryCommit): FileSource {
  const { repo, commit } = origin;
  return {
    address: endpoint.address,
    commit,
    urlOf: (path) => endpoint.fileUrl(origin, path),
    explain: (answer, path) => {
      const what = `the file ${showPath(path)} at ${commit}`;
      const asked = { endpoint: endpoint.address, repo, hasToken: connections.hasToken, what };
      return explainRefusal(answer, asked, Date.now());
    },
  };
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
