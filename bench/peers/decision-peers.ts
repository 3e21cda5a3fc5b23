// The plain Python decision server: FastAPI and onnxruntime on the graphs of `kev`, as written and tuned.

import { join } from 'node:path';
import type { Peer } from './peer.ts';
import { PYTHON_FOLDER, pythonOf, readVersions } from './python-environment.ts';
import { makePeer, ROOT } from './started-peer.ts';

export interface DecisionServerSettings {
  /** Added to the command line of uvicorn. */
  readonly uvicorn: readonly string[];
  /** `PEER_…` of python/decision_server/settings.py, and variables of the libraries. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Nothing said: one process, FastAPI's thread pool, sessions of onnxruntime with a thread for each core. */
const AS_WRITTEN: DecisionServerSettings = { uvicorn: [], environment: {} };

type Description = Pick<Peer, 'id' | 'title' | 'kind'>;

export function makeDecisionServer(
  environmentsFolder: string,
  description: Description,
  { uvicorn, environment }: DecisionServerSettings,
): Peer {
  return makePeer({
    ...description,
    tasks: ['decision'],
    settings: { ...environment, uvicorn: uvicorn.join(' ') },
    versions: readVersions('decisions', ['fastapi', 'uvicorn', 'onnxruntime', 'tokenizers', 'numpy', 'pydantic']),
    launch: (port) => ({
      file: pythonOf(environmentsFolder, 'decisions'),
      arguments: [
        ...['-m', 'uvicorn', 'decision_server.app:app', '--app-dir', PYTHON_FOLDER],
        ...['--host', '127.0.0.1', '--port', String(port), ...uvicorn],
      ],
      environment: { PEER_MODEL_FOLDER: join(ROOT, 'models', 'kev'), PYTHONDONTWRITEBYTECODE: '1', ...environment },
      readyPath: '/healthz',
    }),
  });
}

export function listDecisionPeers(environmentsFolder: string): readonly Peer[] {
  const asWritten = { id: 'python', title: 'FastAPI + onnxruntime, as written', kind: 'as-written' } as const;
  return [makeDecisionServer(environmentsFolder, asWritten, AS_WRITTEN)];
}
