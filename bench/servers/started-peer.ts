// A peer from its description: a command, its environment, and the port it gets. All peers start the same way.

import { join, resolve } from 'node:path';
import { findFreePort } from '../../test/postgres/free-port.ts';
import { readAnswer, requestFor } from '../load/wire.ts';
import { API_KEY } from './child-processes.ts';
import type { Peer, RunningPeer } from './peer.ts';
import { ServerProcess } from './server-process.ts';

export const ROOT = resolve(import.meta.dirname, '..', '..');

export interface Launch {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly readyPath: string;
  /** Where it runs; the project's root when it does not care. */
  readonly folder?: string;
}

export interface PeerDescription extends Omit<Peer, 'start'> {
  /** Called at each start, before the time to ready is measured: work that belongs to an installation is done here. */
  readonly launch: (port: number, dataFolder: string) => Launch;
}

export function makePeer({ launch, ...description }: PeerDescription): Peer {
  const peer: Peer = {
    ...description,
    async start(dataFolder) {
      const port = await findFreePort();
      const { environment, ...command } = launch(port, dataFolder);
      const origin = `http://127.0.0.1:${port}`;
      const logFile = join(dataFolder, 'server.log');
      const server = await ServerProcess.start({ folder: ROOT, ...command, settings: environment, origin, logFile });
      const running: RunningPeer = {
        peer,
        server,
        origin,
        apiKey: API_KEY,
        requestFor,
        readAnswer,
        stop: () => server.stop(),
      };
      return running;
    },
  };
  return peer;
}
