// Two workers; the embedder waits for its first use. Two calls at once load it into both, then a worker dies: what
// replaces it loads the model with the first task that needs it.

import { readModelFolder } from '../../../src/runtime/model-folder/model-folder.ts';
import { WorkerPool } from '../../../src/runtime/worker-pool.ts';
import { longJob, tinyDecision, tinyEmbedding } from '../tiny-engine.ts';

const faults: string[] = [];
const pool = new WorkerPool({
  workers: 2,
  models: [await readModelFolder(tinyDecision)],
  laterModels: [await readModelFolder(tinyEmbedding)],
  device: 'cpu',
  allowDeviceFallback: false,
  threads: 1,
  cacheFolder: undefined,
  stateCacheBytes: 0,
  workerFile: new URL('./dying-worker.ts', import.meta.url),
  onFault: (message) => faults.push(message),
});
const { models } = await pool.loaded;
const atStart = models.map(({ modelId }) => modelId);
const embed = {
  kind: 'embed',
  modelId: 'tiny-embedding',
  inputs: [{ place: 0, input: 'the parcel' }],
  longInputs: 'refuse',
  dimensions: undefined,
  encoding: 'base64',
} as const;
const vector = async (worker: number) => (await pool.run(embed, worker)).embeddings[0];
const { report } = await pool.run({ kind: 'load', modelId: 'tiny-embedding' }, 0);
const [loaded, again] = await Promise.all([vector(0), vector(1)]);
const code = (error: unknown) => (error as { code?: string }).code;
const dead = await pool.run({ kind: 'decide', ...longJob(), modelId: 'die' }, 0).catch(code);
const replaced = await vector(0);
await pool.close();
process.stdout.write(
  JSON.stringify({ atStart, later: report.modelId, isSame: loaded === again && loaded === replaced, dead, faults }),
);
