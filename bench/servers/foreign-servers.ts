// Servers of models that somebody else exported: ours after `umpire models pull`, others on the same files. The models have
// random weights and the sizes of BERT-base and DeBERTa-v3-small; python/foreign_models.py makes them.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMBEDDING_MODEL, type Task } from '../load/workload.ts';
import { ROOT } from '../machine/machine.ts';
import {
  OFFLINE,
  PYTHON_FOLDER,
  pythonOf,
  readVersions,
  SENTENCE_TRANSFORMERS,
  tellUvicorn,
  uvicorn,
} from './python-program.ts';
import type { Server, Settings } from './server.ts';
import { LAUNCHER, umpire, WITHOUT_CACHES } from './umpire.ts';

/** Kept from run to run: 2.4 GB that take a minute to make. */
const FOLDER = join(tmpdir(), 'umpire-bench-foreign');
const STATEMENT = 'This text is about {option}.';
const QUIET = ['--no-access-log'];
const CORES = String(availableParallelism());

export interface ForeignModel {
  readonly task: Task;
  readonly precision: 'fp32' | 'int8';
}

interface Program {
  readonly folder: string;
  readonly app: string;
  /** Beside what `pull` finds in the files. */
  readonly pullOptions: readonly string[];
}

const PROGRAMS: Readonly<Record<Task, Program>> = {
  embedding: { folder: 'embedder', app: 'embedding_server.app:app', pullOptions: [] },
  decision: { folder: 'judge', app: 'zero_shot_server:app', pullOptions: ['--template', STATEMENT] },
};
const GRAPHS = { fp32: 'onnx/model.onnx', int8: 'onnx/model_quantized.onnx' };

/** A session with all cores for one request at a time, or one session that as many requests as there are cores run, each on its own. */
const ALL_CORES = { PEER_BACKEND: 'onnx', PEER_EXECUTOR_THREADS: '1' };
const ONE_EACH = { PEER_BACKEND: 'onnx', PEER_EXECUTOR_THREADS: CORES, PEER_INTRA_THREADS: '1', OMP_NUM_THREADS: '1' };
const OTHERS: Readonly<Record<Task, Readonly<Record<string, Settings>>>> = {
  embedding: {
    'sentence-transformers, torch': {},
    'sentence-transformers, onnx, all cores': ALL_CORES,
    'sentence-transformers, onnx, 1 core each': ONE_EACH,
  },
  decision: {
    'transformers, torch': {},
    'onnxruntime, all cores': ALL_CORES,
    'onnxruntime, 1 core each': ONE_EACH,
  },
};

export function idOf({ task, precision }: ForeignModel): string {
  return `${PROGRAMS[task].folder}-${precision}`;
}

/** Makes the model and pulls it, unless an earlier run did. */
export function provideModel(model: ForeignModel, environments: string): void {
  const { folder, pullOptions } = PROGRAMS[model.task];
  if (!existsSync(join(FOLDER, PROGRAMS.decision.folder, GRAPHS.int8))) {
    const options = ['--tokenizer', join(ROOT, 'models', EMBEDDING_MODEL), '--out', FOLDER];
    execFileSync(pythonOf('sentence-transformers', environments), [
      join(PYTHON_FOLDER, 'foreign_models.py'),
      ...options,
    ]);
  }
  if (existsSync(pulledFolder(model))) return;
  const options = ['--id', idOf(model), '--precision', model.precision, '--accept-licence', ...pullOptions];
  const env = { ...process.env, UMPIRE_DATA_DIR: FOLDER };
  execFileSync(process.execPath, [LAUNCHER, 'models', 'pull', join(FOLDER, folder), ...options], {
    env,
    stdio: 'pipe',
  });
}

function pulledFolder(model: ForeignModel): string {
  return join(FOLDER, 'models', idOf(model));
}

/** Ours first. Torch runs its own weights, which are float32. */
export function listForeignServers(model: ForeignModel, environments: string): Server[] {
  const others = Object.entries(OTHERS[model.task]).filter(
    ([, { PEER_BACKEND }]) => PEER_BACKEND === 'onnx' || model.precision === 'fp32',
  );
  const ours = umpire({ settings: { ...WITHOUT_CACHES, UMPIRE_MODELS: pulledFolder(model) } });
  return [
    { ...ours, tasks: [model.task] },
    ...others.map(([title, environment]) => makeOther(model, { title, environment, environments })),
  ];
}

interface Other {
  readonly title: string;
  readonly environment: Settings;
  readonly environments: string;
}

function makeOther({ task, precision }: ForeignModel, { title, environment, environments }: Other): Server {
  const { folder, app } = PROGRAMS[task];
  return {
    id: title,
    title,
    kind: environment['PEER_BACKEND'] === 'onnx' ? 'tuned' : 'as-written',
    tasks: [task],
    settings: tellUvicorn({ options: QUIET, environment }),
    versions: readVersions(SENTENCE_TRANSFORMERS),
    launch: (port) => ({
      file: pythonOf('sentence-transformers', environments),
      arguments: uvicorn(app, port, QUIET),
      settings: {
        ...OFFLINE,
        PEER_MODEL_FOLDER: join(FOLDER, folder),
        PEER_GRAPH: GRAPHS[precision],
        PEER_HYPOTHESIS: STATEMENT.replace('option', ''),
        ...environment,
      },
      readyPath: '/healthz',
    }),
  };
}
