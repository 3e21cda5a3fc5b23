// The embedding servers of others: Infinity, and sentence-transformers behind FastAPI, as written and tuned. On the same int8
// graph where they have an engine for it.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { EMBEDDING_MODEL } from '../load/workload.ts';
import type { Peer } from './peer.ts';
import { PYTHON_FOLDER, pythonOf, readVersions } from './python-environment.ts';
import { makePeer, ROOT } from './started-peer.ts';

type Description = Pick<Peer, 'id' | 'title' | 'kind'>;
type Environment = Readonly<Record<string, string>>;

/** Nothing is fetched, and nobody is told. */
const OFFLINE: Environment = {
  HF_HUB_OFFLINE: '1',
  TRANSFORMERS_OFFLINE: '1',
  DO_NOT_TRACK: '1',
  PYTHONDONTWRITEBYTECODE: '1',
};

/** Installation, not start: their users download such a folder. */
function layOutModel(python: string, dataFolder: string): string {
  const out = join(dataFolder, 'model');
  const script = join(PYTHON_FOLDER, 'embedding_folder.py');
  execFileSync(python, [script, '--model', join(ROOT, 'models', EMBEDDING_MODEL), '--out', out]);
  return out;
}

interface InfinitySettings {
  /** Added to the command line of `infinity_emb`. */
  readonly options: readonly string[];
  /** Processes with a core each, by `infinity_workers.py`; undefined: the command line, as its users start it. */
  readonly workers?: number;
}

const INFINITY_AS_WRITTEN: InfinitySettings = { options: [] };

function makeInfinity(
  environmentsFolder: string,
  description: Description,
  { options, workers }: InfinitySettings,
): Peer {
  const own: Environment = { options: options.join(' '), workers: String(workers ?? 1) };
  return makePeer({
    ...description,
    tasks: ['embedding'],
    settings: { engine: 'optimum', 'pooling-method': 'mean', ...own },
    versions: readVersions('infinity', ['infinity_emb', 'optimum-onnx', 'onnxruntime', 'transformers', 'torch']),
    launch: (port, dataFolder) => {
      const python = pythonOf(environmentsFolder, 'infinity');
      const address = ['--host', '127.0.0.1', '--port', String(port)];
      const common = {
        // The model is "." because optimum looks for the graph by its bare name.
        folder: layOutModel(python, dataFolder),
        readyPath: '/health',
      };
      if (workers === undefined) {
        const model = ['--model-id', '.', '--served-model-name', EMBEDDING_MODEL, '--engine', 'optimum'];
        const rest = ['--device', 'cpu', '--pooling-method', 'mean', '--url-prefix', '/ai/v1', ...address, ...options];
        const infinity = join(environmentsFolder, 'infinity', 'bin', 'infinity_emb');
        return { ...common, file: infinity, arguments: ['v2', ...model, ...rest], environment: OFFLINE };
      }
      const app = ['-m', 'uvicorn', '--factory', 'infinity_workers:create_app', '--app-dir', PYTHON_FOLDER];
      const environment = { ...OFFLINE, ...asVariables(options) };
      const rest = ['--workers', String(workers), '--no-access-log', ...address];
      return { ...common, file: python, arguments: [...app, ...rest], environment };
    },
  });
}

/** Infinity reads every option of its command line from the environment, too. */
function asVariables(options: readonly string[]): Environment {
  const variables: Record<string, string> = {
    INFINITY_MODEL_ID: '.',
    INFINITY_SERVED_MODEL_NAME: EMBEDDING_MODEL,
    INFINITY_ENGINE: 'optimum',
    INFINITY_DEVICE: 'cpu',
    INFINITY_POOLING_METHOD: 'mean',
  };
  for (let index = 0; index < options.length; index += 2) {
    const name = (options[index] ?? '').replace('--', '').replaceAll('-', '_').toUpperCase();
    variables[`INFINITY_${name}`] = options[index + 1] ?? '';
  }
  return variables;
}

interface SentenceTransformersSettings {
  readonly uvicorn: readonly string[];
  /** `PEER_…` of python/embedding_server/app.py, and variables of the libraries. */
  readonly environment: Environment;
}

const SENTENCE_TRANSFORMERS_AS_WRITTEN: SentenceTransformersSettings = { uvicorn: [], environment: {} };

function makeSentenceTransformers(
  environmentsFolder: string,
  description: Description,
  { uvicorn, environment }: SentenceTransformersSettings,
): Peer {
  return makePeer({
    ...description,
    tasks: ['embedding'],
    settings: { ...environment, uvicorn: uvicorn.join(' ') },
    versions: readVersions('sentence-transformers', ['sentence-transformers', 'torch', 'onnxruntime', 'fastapi']),
    launch: (port, dataFolder) => {
      const python = pythonOf(environmentsFolder, 'sentence-transformers');
      const isOnnx = environment['PEER_BACKEND'] === 'onnx';
      const model = isOnnx ? layOutModel(python, dataFolder) : findBaseFolder(python);
      return {
        file: python,
        arguments: [
          ...['-m', 'uvicorn', 'embedding_server.app:app', '--app-dir', PYTHON_FOLDER],
          ...['--host', '127.0.0.1', '--port', String(port), ...uvicorn],
        ],
        environment: { ...OFFLINE, PEER_MODEL_FOLDER: model, ...environment },
        readyPath: '/healthz',
      };
    },
  });
}

/** The original float32 weights, in the package that carries them. */
function findBaseFolder(python: string): string {
  return execFileSync(python, [join(PYTHON_FOLDER, 'base_folder.py')], { encoding: 'utf8' }).trim();
}

/** What `tune.ts` tries. */
const INFINITY_CANDIDATES = {
  'as written': INFINITY_AS_WRITTEN,
  'batches of 8': { options: ['--batch-size', '8'] },
  'batches of 64': { options: ['--batch-size', '64'] },
  'batches of 8, lengths by the tokenizer': { options: ['--batch-size', '8', '--lengths-via-tokenize'] },
  'graph optimised by optimum': { options: ['--no-onnx-disable-optimize'] },
  '2 processes, a core each': { options: [], workers: 2 },
  '2 processes, a core each, batches of 8': { options: ['--batch-size', '8'], workers: 2 },
} satisfies Readonly<Record<string, InfinitySettings>>;

const ONE_THREAD = { PEER_INTRA_THREADS: '1', OMP_NUM_THREADS: '1', TOKENIZERS_PARALLELISM: 'false' };
const ONNX = { PEER_BACKEND: 'onnx' };
const QUIET = ['--no-access-log'];
const SENTENCE_TRANSFORMERS_CANDIDATES = {
  'as written (torch)': SENTENCE_TRANSFORMERS_AS_WRITTEN,
  'torch, 1 request at a time': { uvicorn: QUIET, environment: { PEER_EXECUTOR_THREADS: '1' } },
  'onnx as written': { uvicorn: [], environment: ONNX },
  'onnx, 1 request at a time': { uvicorn: QUIET, environment: { ...ONNX, PEER_EXECUTOR_THREADS: '1' } },
  'onnx, 2 threads of 1': {
    uvicorn: QUIET,
    environment: { ...ONNX, ...ONE_THREAD, PEER_EXECUTOR_THREADS: '2' },
  },
  'onnx, 2 threads of 1, batches of 8': {
    uvicorn: QUIET,
    environment: { ...ONNX, ...ONE_THREAD, PEER_EXECUTOR_THREADS: '2', PEER_BATCH_SIZE: '8' },
  },
  'onnx, 2 threads of 1, batches of 2': {
    uvicorn: QUIET,
    environment: { ...ONNX, ...ONE_THREAD, PEER_EXECUTOR_THREADS: '2', PEER_BATCH_SIZE: '2' },
  },
  'onnx, 2 processes of 1 thread, batches of 8': {
    uvicorn: [...QUIET, '--workers', '2'],
    environment: { ...ONNX, ...ONE_THREAD, PEER_EXECUTOR_THREADS: '1', PEER_BATCH_SIZE: '8' },
  },
} satisfies Readonly<Record<string, SentenceTransformersSettings>>;

export function listInfinityCandidates(environmentsFolder: string): readonly Peer[] {
  return Object.entries(INFINITY_CANDIDATES).map(([title, settings]) =>
    makeInfinity(environmentsFolder, { id: title, title, kind: 'tuned' }, settings),
  );
}

export function listSentenceTransformersCandidates(environmentsFolder: string): readonly Peer[] {
  return Object.entries(SENTENCE_TRANSFORMERS_CANDIDATES).map(([title, settings]) =>
    makeSentenceTransformers(environmentsFolder, { id: title, title, kind: 'tuned' }, settings),
  );
}

/** Of the candidates those that `tune.ts` finds fastest. */
const TUNED_INFINITY = 'batches of 8';
const TUNED_SENTENCE_TRANSFORMERS = 'onnx, 2 processes of 1 thread, batches of 8';

export function listEmbeddingPeers(environmentsFolder: string): readonly Peer[] {
  const plain = 'FastAPI + sentence-transformers';
  return [
    makeInfinity(
      environmentsFolder,
      { id: 'infinity', title: 'Infinity, as written', kind: 'as-written' },
      INFINITY_CANDIDATES['as written'],
    ),
    makeInfinity(
      environmentsFolder,
      { id: 'infinity-tuned', title: 'Infinity, tuned', kind: 'tuned' },
      INFINITY_CANDIDATES[TUNED_INFINITY],
    ),
    makeSentenceTransformers(
      environmentsFolder,
      { id: 'sentence-transformers', title: `${plain}, as written`, kind: 'as-written' },
      SENTENCE_TRANSFORMERS_CANDIDATES['as written (torch)'],
    ),
    makeSentenceTransformers(
      environmentsFolder,
      { id: 'sentence-transformers-tuned', title: `${plain}, tuned`, kind: 'tuned' },
      SENTENCE_TRANSFORMERS_CANDIDATES[TUNED_SENTENCE_TRANSFORMERS],
    ),
  ];
}
