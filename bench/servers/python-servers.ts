// The Python servers: each program with every setting that was tried, and of these which are compared with ours.

import {
  DECISIONS,
  INFINITY,
  installProgram,
  type Place,
  type PythonProgram,
  readVersions,
  SENTENCE_TRANSFORMERS,
  type Tuning,
} from './python-program.ts';
import type { Server } from './server.ts';

const ONE_THREAD = { PEER_INTRA_THREADS: '1', PEER_SPINNING: '0', TOKENIZERS_PARALLELISM: 'false' };
const ONE_ONNX_THREAD = {
  PEER_BACKEND: 'onnx',
  PEER_INTRA_THREADS: '1',
  OMP_NUM_THREADS: '1',
  TOKENIZERS_PARALLELISM: 'false',
};
const QUIET = ['--no-access-log'];
const TWO_PROCESSES = ['--workers', '2', '--no-access-log'];

/** One process. @param count of its threads that run models */
const threads = (count: number, more = {}): Tuning => {
  return { options: QUIET, environment: { ...ONE_THREAD, PEER_EXECUTOR_THREADS: String(count), ...more } };
};
/** Two of them. @param count of threads in the pool of each; −1: in the event loop */
const processes = (count: number, more = {}): Tuning => ({ ...threads(count, more), options: TWO_PROCESSES });
const onnx = (count: number, batch: object = {}): Tuning => {
  return { options: QUIET, environment: { ...ONE_ONNX_THREAD, PEER_EXECUTOR_THREADS: String(count), ...batch } };
};

interface Family {
  readonly program: PythonProgram;
  readonly id: string;
  readonly title: string;
  /** Of `candidates` those that are compared: as its users write it, and the fastest that `tune-peers.ts` finds. */
  readonly asWritten: string;
  readonly tuned: string;
  readonly candidates: Readonly<Record<string, Tuning>>;
}

/** As written, nothing is said: one process, FastAPI's thread pool, sessions of onnxruntime with a thread for each core. */
export const FAMILIES: Readonly<Record<string, Family>> = {
  decisions: {
    program: DECISIONS,
    id: 'python',
    title: 'FastAPI + onnxruntime',
    asWritten: 'as written',
    tuned: '1 process, 2 threads of 1',
    candidates: {
      'as written': {},
      'no spinning': { environment: { PEER_SPINNING: '0' } },
      '1 process, 2 threads of 1': threads(2),
      '… switching every 0.5 ms': threads(2, { PEER_SWITCH_MS: '0.5' }),
      '1 process, 3 threads of 1': threads(3),
      '1 process, 1 thread of 2': { options: QUIET, environment: { PEER_SPINNING: '0', PEER_EXECUTOR_THREADS: '1' } },
      '2 processes as written': { options: ['--workers', '2'] },
      '2 processes of 1 thread, pool of 40': { options: TWO_PROCESSES, environment: ONE_THREAD },
      '2 processes of 1 thread, pool of 1': processes(1),
      '2 processes of 1 thread, pool of 2': processes(2),
      '2 processes of 1 thread, in the loop': processes(-1),
      '… in the loop, a core each': processes(-1, { PEER_PIN: '1' }),
      '… in the loop, orjson': processes(-1, { PEER_ORJSON: '1' }),
      '… in the loop, OrtValues': processes(-1, { PEER_ORT_VALUES: '1' }),
      '… in the loop, no arena': processes(-1, { PEER_ARENA: '0' }),
    },
  },
  infinity: {
    program: INFINITY,
    id: 'infinity',
    title: 'Infinity',
    asWritten: 'as written',
    tuned: 'batches of 8',
    candidates: {
      'as written': {},
      'batches of 8': { options: ['--batch-size', '8'] },
      'batches of 64': { options: ['--batch-size', '64'] },
      'batches of 8, lengths by the tokenizer': { options: ['--batch-size', '8', '--lengths-via-tokenize'] },
      'graph optimised by optimum': { options: ['--no-onnx-disable-optimize'] },
      '2 processes, a core each': { workers: 2 },
      '2 processes, a core each, batches of 8': { options: ['--batch-size', '8'], workers: 2 },
    },
  },
  'sentence-transformers': {
    program: SENTENCE_TRANSFORMERS,
    id: 'sentence-transformers',
    title: 'FastAPI + sentence-transformers',
    asWritten: 'as written (torch)',
    tuned: 'onnx, 2 processes of 1 thread, batches of 8',
    candidates: {
      'as written (torch)': {},
      'torch, 1 request at a time': { options: QUIET, environment: { PEER_EXECUTOR_THREADS: '1' } },
      'onnx as written': { environment: { PEER_BACKEND: 'onnx' } },
      'onnx, 1 request at a time': {
        options: QUIET,
        environment: { PEER_BACKEND: 'onnx', PEER_EXECUTOR_THREADS: '1' },
      },
      'onnx, 2 threads of 1': onnx(2),
      'onnx, 2 threads of 1, batches of 8': onnx(2, { PEER_BATCH_SIZE: '8' }),
      'onnx, 2 threads of 1, batches of 2': onnx(2, { PEER_BATCH_SIZE: '2' }),
      'onnx, 2 processes of 1 thread, batches of 8': {
        ...onnx(1, { PEER_BATCH_SIZE: '8' }),
        options: [...QUIET, '--workers', '2'],
      },
    },
  },
};

/** Each as its users write it, then tuned. @param environments where `install-peers.ts` made them */
export function listPythonServers(environments: string): Server[] {
  return Object.values(FAMILIES).flatMap((family) => {
    const { id, title, asWritten, tuned } = family;
    const describe = (description: Pick<Server, 'id' | 'title' | 'kind'>, candidate: string): Server =>
      makeServer(family, candidate, { ...description, environments });
    return [
      describe({ id, title: `${title}, as written`, kind: 'as-written' }, asWritten),
      describe({ id: `${id}-tuned`, title: `${title}, tuned`, kind: 'tuned' }, tuned),
    ];
  });
}

/** All that were tried of one family. */
export function listCandidates(family: Family, environments: string): Server[] {
  return Object.keys(family.candidates).map((title) =>
    makeServer(family, title, { id: title, title, kind: 'tuned', environments }),
  );
}

export function installAll(environments: string, python: string): void {
  for (const { program } of Object.values(FAMILIES)) installProgram(program, environments, python);
}

type Description = Pick<Server, 'id' | 'title' | 'kind'> & Pick<Place, 'environments'>;

function makeServer(
  { program, candidates }: Family,
  candidate: string,
  { environments, ...description }: Description,
): Server {
  const tuning = candidates[candidate];
  if (tuning === undefined) throw new Error(`${description.id}: there is no candidate "${candidate}".`);
  return {
    ...description,
    tasks: [program.task],
    settings: program.tell(tuning),
    versions: readVersions(program),
    launch: (port, dataFolder) => program.launch(tuning, { port, dataFolder, environments }),
  };
}
