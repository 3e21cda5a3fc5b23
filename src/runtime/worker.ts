// A worker's entry: loads every model, then answers tasks one at a time. Never speaks HTTP; everything it reaches stays
// free of fastify, zod and undici.

import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { toErrorRecord } from '../domain/errors.ts';
import { SplitEncoder } from './families/split-encoder/split-encoder.ts';
import { StateMemory } from './families/split-encoder/state-memory.ts';
import { TextEncoder } from './families/text-encoder/text-encoder.ts';
import { dropUnusedEntries } from './graph-cache.ts';
import { findPrecision, type LoadedModel, loadModel } from './load-model.ts';
import type { LoadReport, ReplyOf, Task, TaskOrder, TaskReply, WorkerSetup } from './messages.ts';
import { isAddon, loadAddon } from './native.ts';
import { restWhenIdle } from './rest-when-idle.ts';
import { chooseDevice } from './session.ts';
import { RunWidth } from './width-session.ts';

type Handler = (order: TaskOrder) => Promise<TaskReply>;

/** A promise, so that a replacement gets no task before it is ready. It never rejects: the report says what failed. */
export default startWorker(workerData as WorkerSetup);

async function startWorker(setup: WorkerSetup): Promise<Handler> {
  try {
    const { device, warning } = await chooseDevice({
      requested: setup.device,
      allowFallback: setup.allowDeviceFallback,
      threads: setup.threads,
      deviceGraph: findDeviceGraph(setup),
    });
    const memory = new StateMemory({ keptBytes: setup.stateCacheBytes, scratchBytes: setup.scratchBytes });
    const addon = setup.tokenizer === 'javascript' ? undefined : await loadAddon();
    const native = addon !== undefined && isAddon(addon) ? addon : undefined;
    const width = new RunWidth(setup.aloneThreads ?? setup.threads, native);
    const models = new Map<string, LoadedModel>();
    for (const folder of setup.models) {
      models.set(folder.manifest.id, await loadModel(folder, { ...setup, device, memory, width }));
    }
    // The golden cases have touched memory that documents may take a while to need.
    memory.rest();
    if (setup.cacheFolder !== undefined) await dropUnusedEntries(setup.cacheFolder, Date.now());
    report(loadedReport({ device, models: [...models.values()], warning, canBeWide: width.isAllowed }));
    return restWhenIdle(
      ({ task, isWide }) => settleTask(() => width.during(isWide, () => perform(task, models))),
      () => {
        memory.rest();
        native?.giveBackMemory();
      },
    );
  } catch (error) {
    const { message } = toErrorRecord(error);
    report({ kind: 'failed', message });
    return async () => ({ error: { code: 'internal_error', message } });
  }
}

function report(message: LoadReport): void {
  parentPort?.postMessage(message);
}

interface Loaded {
  readonly device: string;
  readonly models: readonly LoadedModel[];
  readonly warning: string | undefined;
  readonly canBeWide: boolean;
}

function loadedReport({ device, models, warning, canBeWide }: Loaded): LoadReport {
  const warnings = models.flatMap((model) => model.warnings);
  if (warning !== undefined) warnings.unshift(warning);
  return { kind: 'loaded', device, models: models.map((model) => model.report), warnings, canBeWide };
}

/** A graph to try another device on; undefined unless every model has one. */
function findDeviceGraph({ models, device }: WorkerSetup): string | undefined {
  const paths = models.map((folder) => {
    const files = folder.manifest.graphs[findPrecision(folder, device === 'auto' ? 'cuda' : device) ?? ''];
    const [name] = Object.values(files ?? {});
    return name === undefined ? undefined : join(folder.path, name);
  });
  return paths.includes(undefined) ? undefined : paths[0];
}

/** Errors cross threads as records: structured clone keeps no class. */
async function settleTask(action: () => Promise<ReplyOf[Task['kind']]>): Promise<TaskReply> {
  try {
    return { value: await action() };
  } catch (error) {
    return { error: toErrorRecord(error) };
  }
}

async function perform(task: Task, models: ReadonlyMap<string, LoadedModel>): Promise<ReplyOf[Task['kind']]> {
  if (task.kind === 'probe') {
    for (const model of models.values()) await model.probe();
    return {};
  }
  const family = models.get(task.modelId)?.family;
  if (family instanceof SplitEncoder) {
    if (task.kind === 'count-decision') return { inputTokens: family.countTokens(task) };
    if (task.kind === 'decide') return family.decide(task);
    if (task.kind === 'encode') return family.encodeShare(task);
    if (task.kind === 'answer') return family.answerShared(task);
    if (task.kind === 'answer-slice') return family.answerSlice(task);
    if (task.kind === 'answer-end') return family.endAnswer(task);
  }
  if (family instanceof TextEncoder) {
    if (task.kind === 'count-embedding') return { inputTokens: family.countTokens(task) };
    if (task.kind === 'embed') return family.embed(task);
  }
  throw new Error(`no model of this worker does ${task.kind} as ${task.modelId}`);
}
