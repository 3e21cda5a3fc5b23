// Settings of the engine: device, workers, queue, memory, probes.

import { z } from 'zod';
import { batch } from './batch-schema.ts';
import { bytes, count, memory, milliseconds, settingNotes as note, text } from './setting-kinds.ts';

export const engine = z.strictObject({
  device: text
    .regex(/^[a-z0-9]+$/, 'must be a name such as auto, cpu or cuda')
    .default('auto')
    .register(note, {
      help: 'Execution provider: `auto` takes CUDA on Linux where `umpire gpu install` has brought its provider and it works, else the CPU; any other name (`cpu`, `cuda`, …) that one. A device runs fp16 and fp32 graphs; with `auto`, a model without them runs on the CPU. What was chosen, and why, is said at the start.',
    }),
  allowDeviceFallback: z.boolean().default(false).register(note, {
    help: 'Whether a named device that cannot be used is replaced by `cpu`; otherwise the start fails.',
  }),
  workers: z.int().min(1).max(256).optional().register(note, {
    help: 'Threads that run models.',
    defaultText:
      'cores of the cgroup ÷ threadsPerWorker; where a device is to be used, `batch.inFlight` and one more at most',
  }),
  threadsPerWorker: z.int().min(1).max(256).default(1).register(note, {
    help: 'Cores one run uses; all of them for a caller who is alone, where threads can be bound to cores. 1 is best for models of up to 30 M parameters.',
  }),
  queueMaxJobs: count()
    .default(1024)
    .register(note, { help: 'Calls that may wait; further ones are refused as `overloaded`.', reloads: true }),
  queueMaxCostMs: milliseconds().default(60_000).register(note, {
    help: 'Estimated work, over all workers, that may wait. A key may fill half of what others leave of it, a call counts for a quarter at most; beyond that further calls of the key are refused as `overloaded`. The first call of a key always has room.',
    unit: 'ms',
    reloads: true,
  }),
  queueDeadlineMs: milliseconds().default(8000).register(note, {
    help: 'Longest wait before work on a call begins. A call that cannot meet it is refused at once. The decision SDK gives up after 10 s.',
    unit: 'ms',
    reloads: true,
  }),
  stateCacheBytes: bytes(0)
    .default(128 * 1024 * 1024)
    .register(note, {
      help: 'What each worker keeps of documents it has read (keys and values, 18.4 kB a token of `kev`), so that the next question about one of them costs the question alone. The least recently used goes first; short ones are kept from their second time on; 0 switches it off.',
      unit: 'bytes',
    }),
  tokenizer: z.enum(['auto', 'javascript']).default('auto').register(note, {
    help: 'What cuts texts into tokens. `auto` takes the native tokenizer where the install could build it; the ids are the same. What was chosen is said at the start.',
  }),
  memoryBytes: memory(64 * 1024 * 1024)
    .optional()
    .register(note, {
      help: 'What models, their runs and the caches may take, by estimate. A start is refused when what it loads does not fit, or a model of `load: first-use` never would; one for which there is no room when it is asked for is a 503 `model_unavailable`, and nothing is unloaded.',
      unit: 'bytes',
      defaultText:
        'what the machine or the cgroup has left at the start, less 64 MiB, for the models alone; where it is too little for the caches, a start warns',
    }),
  probeIntervalMs: milliseconds(0).default(10_000).register(note, {
    help: 'Time between probe inferences on an idle engine; 0 switches them off.',
    unit: 'ms',
  }),
  probeTimeoutMs: milliseconds().default(30_000).register(note, {
    help: 'A run that is this much later than its estimate makes `/readyz` answer 503 until it ends.',
    unit: 'ms',
  }),
  gpuDir: text.optional().register(note, {
    help: 'Where `umpire gpu install` puts the CUDA provider, and where a server looks for it.',
    path: true,
    defaultText: '`gpu` in dataDir',
  }),
  cacheDir: text.optional().register(note, {
    help: 'Where optimised graphs are kept between starts.',
    path: true,
    defaultText: '`cache` in dataDir',
  }),
  batch: batch.prefault({}),
});
