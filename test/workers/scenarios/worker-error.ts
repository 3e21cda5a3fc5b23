// Two workers; one fails inside a task, then dies of an uncaught error while the other works: the process lives on, the
// dead one is replaced, and what was in flight beside it is answered.

import { readModelFolder } from '../../../src/runtime/model-folder/model-folder.ts';
import { WorkerPool } from '../../../src/runtime/worker-pool.ts';
import { longJob, tinyDecision } from '../tiny-engine.ts';

const faults: string[] = [];
const pool = new WorkerPool({
  workers: 2,
  models: [await readModelFolder(tinyDecision)],
  device: 'cpu',
  allowDeviceFallback: false,
  threads: 1,
  cacheFolder: undefined,
  stateCacheBytes: 0,
  workerFile: new URL('./dying-worker.ts', import.meta.url),
  onFault: (message) => faults.push(message),
});
await pool.loaded;
const task = { kind: 'decide', ...longJob() } as const;
const code = (error: unknown) => (error as { code?: string; message?: string }).code ?? 'no code';

const [malformed, beside] = await Promise.all([
  pool.run({ ...task, questions: null as never }, 0).catch(code),
  pool.run(task, 1).then(() => 'answered'),
]);
const [dead, alive] = await Promise.all([
  pool.run({ ...task, modelId: 'die' }, 0).catch(code),
  pool.run(task, 1).then(() => 'answered'),
]);
const after = await Promise.all([0, 1, 0, 1].map((worker) => pool.run(task, worker).then(() => 'answered')));
await pool.close();
process.stdout.write(JSON.stringify({ malformed, beside, dead, alive, after, faults }));
