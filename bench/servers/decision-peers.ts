// The plain Python decision server: FastAPI and onnxruntime on the graphs of `kev`, as written and tuned.

import { join } from 'node:path';
import type { Peer } from './peer.ts';
import { PYTHON_FOLDER, pythonOf, readVersions } from './python-environment.ts';
import { makePeer, ROOT } from './started-peer.ts';

interface DecisionServerSettings {
  /** Added to the command line of uvicorn. */
  readonly uvicorn: readonly string[];
  /** `PEER_…` of python/decision_server/settings.py, and variables of the libraries. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Nothing said: one process, FastAPI's thread pool, sessions of onnxruntime with a thread for each core. */
const AS_WRITTEN: DecisionServerSettings = { uvicorn: [], environment: {} };

type Description = Pick<Peer, 'id' | 'title' | 'kind'>;

function makeDecisionServer(
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

const ONE_THREAD = { PEER_INTRA_THREADS: '1', PEER_SPINNING: '0', TOKENIZERS_PARALLELISM: 'false' };
const TWO_PROCESSES = ['--workers', '2', '--no-access-log'];

/** What `tune.ts` tries, each step beside the one it changes. */
const CANDIDATES = {
  'as written': AS_WRITTEN,
  'no spinning': { uvicorn: [], environment: { PEER_SPINNING: '0' } },
  '1 process, 2 threads of 1': {
    uvicorn: ['--no-access-log'],
    environment: { ...ONE_THREAD, PEER_EXECUTOR_THREADS: '2' },
  },
  '… switching every 0.5 ms': {
    uvicorn: ['--no-access-log'],
    environment: { ...ONE_THREAD, PEER_EXECUTOR_THREADS: '2', PEER_SWITCH_MS: '0.5' },
  },
  '1 process, 3 threads of 1': {
    uvicorn: ['--no-access-log'],
    environment: { ...ONE_THREAD, PEER_EXECUTOR_THREADS: '3' },
  },
  '1 process, 1 thread of 2': {
    uvicorn: ['--no-access-log'],
    environment: { PEER_SPINNING: '0', PEER_EXECUTOR_THREADS: '1' },
  },
  '2 processes as written': { uvicorn: ['--workers', '2'], environment: {} },
  '2 processes of 1 thread, pool of 40': { uvicorn: TWO_PROCESSES, environment: ONE_THREAD },
  '2 processes of 1 thread, pool of 1': {
    uvicorn: TWO_PROCESSES,
    environment: { ...ONE_THREAD, PEER_EXECUTOR_THREADS: '1' },
  },
  '2 processes of 1 thread, pool of 2': {
    uvicorn: TWO_PROCESSES,
    environment: { ...ONE_THREAD, PEER_EXECUTOR_THREADS: '2' },
  },
  '2 processes of 1 thread, in the loop': {
    uvicorn: TWO_PROCESSES,
    environment: { ...ONE_THREAD, PEER_EXECUTOR_THREADS: '-1' },
  },
  '… in the loop, a core each': {
    uvicorn: TWO_PROCESSES,
    environment: { ...ONE_THREAD, PEER_EXECUTOR_THREADS: '-1', PEER_PIN: '1' },
  },
  '… in the loop, orjson': {
    uvicorn: TWO_PROCESSES,
    environment: { ...ONE_THREAD, PEER_EXECUTOR_THREADS: '-1', PEER_ORJSON: '1' },
  },
  '… in the loop, OrtValues': {
    uvicorn: TWO_PROCESSES,
    environment: { ...ONE_THREAD, PEER_EXECUTOR_THREADS: '-1', PEER_ORT_VALUES: '1' },
  },
  '… in the loop, no arena': {
    uvicorn: TWO_PROCESSES,
    environment: { ...ONE_THREAD, PEER_EXECUTOR_THREADS: '-1', PEER_ARENA: '0' },
  },
} satisfies Readonly<Record<string, DecisionServerSettings>>;

export function listDecisionCandidates(environmentsFolder: string): readonly Peer[] {
  return Object.entries(CANDIDATES).map(([title, settings]) =>
    makeDecisionServer(environmentsFolder, { id: title, title, kind: 'tuned' }, settings),
  );
}

/** Of the candidates the one that `tune.ts` finds fastest. */
const TUNED = '1 process, 2 threads of 1';

export function listDecisionPeers(environmentsFolder: string): readonly Peer[] {
  const asWritten = { id: 'python', title: 'FastAPI + onnxruntime, as written', kind: 'as-written' } as const;
  const tuned = { id: 'python-tuned', title: 'FastAPI + onnxruntime, tuned', kind: 'tuned' } as const;
  return [
    makeDecisionServer(environmentsFolder, asWritten, CANDIDATES['as written']),
    makeDecisionServer(environmentsFolder, tuned, CANDIDATES[TUNED]),
  ];
}
