// Our server among its peers: its production entry with its defaults, but for what would answer without running a model.

import { describeVersions } from '../pages/hardware.ts';
import { API_KEY } from './child-processes.ts';
import { DEVICE } from './engine-settings.ts';
import type { Peer } from './peer.ts';
import { makePeer } from './started-peer.ts';

/** Every request of the bench is text never sent before: these would only cost. Off, nobody needs to take our word for it. */
export const WITHOUT_CACHES = {
  UMPIRE_ANSWERS_CACHE_BYTES: '0',
  UMPIRE_ANSWERS_MERGE: 'false',
  UMPIRE_ENGINE_STATE_CACHE_BYTES: '0',
};

/** @param settings default: nothing that answers without running a model */
export function makeUmpirePeer(settings: Readonly<Record<string, string>> = WITHOUT_CACHES): Peer {
  const { umpire, node, packages } = describeVersions();
  return makePeer({
    id: 'umpire',
    title: 'umpire',
    tasks: ['decision', 'embedding'],
    kind: 'ours',
    settings,
    versions: { umpire, node, 'onnxruntime-node': packages['onnxruntime-node'] ?? '' },
    launch: (port, dataFolder) => ({
      file: process.execPath,
      arguments: ['src/launch.js', 'serve'],
      environment: {
        UMPIRE_HOST: '127.0.0.1',
        UMPIRE_PORT: String(port),
        UMPIRE_DATA_DIR: dataFolder,
        UMPIRE_API_KEY: API_KEY,
        UMPIRE_ENGINE_DEVICE: DEVICE,
        ...settings,
      },
      readyPath: '/readyz',
    }),
  });
}
