// A worker's entry: loads its models, then answers tasks one at a time. Never speaks HTTP; everything it reaches stays
// free of fastify, zod and undici.

// First of all, for the runtime library is loaded by what follows.
import './cuda/worker-cuda.ts';

import { parentPort, workerData } from 'node:worker_threads';
import { toErrorRecord } from '../domain/errors.ts';
import { workerCuda } from './cuda/worker-cuda.ts';
import { chooseDevice, type DeviceChoice } from './device-choice.ts';
import { DeviceRevival } from './device-revival.ts';
import { StateMemory } from './families/split-encoder/state-memory.ts';
import { performTask } from './family-tasks.ts';
import { dropUnusedEntries } from './graph-cache.ts';
import { type LoadedModel, loadModel } from './load-model.ts';
import type { DeviceNews, LoadReport } from './load-report.ts';
import type { ReplyOf, Task, TaskOrder, TaskReply, WorkerSetup } from './messages.ts';
import { deviceOfModel } from './model-folder/precision.ts';
import { isAddon, loadAddon } from './native.ts';
import { restWhenIdle } from './rest-when-idle.ts';
import { tryGraph } from './session.ts';
import { RunWidth } from './width-session.ts';
import { WorkerModels } from './worker-models.ts';

type Handler = (order: TaskOrder) => Promise<TaskReply>;

/** A promise, so that a replacement gets no task before it is ready. It never rejects: the report says what failed. */
export default startWorker(workerData as WorkerSetup);

async function startWorker(setup: WorkerSetup): Promise<Handler> {
  try {
    const choice = await chooseDevice({
      requested: setup.device,
      allowFallback: setup.allowDeviceFallback,
      models: [...setup.models, ...(setup.laterModels ?? [])],
      cuda: workerCuda,
      tryGraph,
    });
    const memory = new StateMemory({ keptBytes: setup.stateCacheBytes, scratchBytes: setup.scratchBytes });
    const addon = setup.tokenizer === 'javascript' ? undefined : await loadAddon();
    const native = addon !== undefined && isAddon(addon) ? addon : undefined;
    const width = new RunWidth(setup.aloneThreads ?? setup.threads, native);
    const models = new WorkerModels({
      laterModels: setup.laterModels ?? [],
      load: (folder) => loadModel(folder, { ...setup, device: deviceOfModel(folder, choice.device), memory, width }),
      onFault: (message) => report({ kind: 'failed', message }),
    });
    for (const folder of setup.models) await models.add(folder);
    // The golden cases have touched memory that documents may take a while to need.
    memory.rest();
    if (setup.cacheFolder !== undefined) await dropUnusedEntries(setup.cacheFolder, Date.now());
    report(loadedReport(choice, models.all, width.isAllowed));
    const revival = new DeviceRevival({ reopen: () => models.reopen(), report });
    return restWhenIdle(
      ({ task, isWide }) =>
        settleTask(() => revival.during(() => answer(task, models, (run) => width.during(isWide, run)))),
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

function report(message: LoadReport | DeviceNews): void {
  parentPort?.postMessage(message);
}

function loadedReport(choice: DeviceChoice, models: readonly LoadedModel[], canBeWide: boolean): LoadReport {
  const { device, note, warning } = choice;
  const warnings = models.flatMap((model) => model.warnings);
  if (warning !== undefined) warnings.unshift(warning);
  const notes = note === undefined ? [] : [note];
  return { kind: 'loaded', device, models: models.map((model) => model.report), notes, warnings, canBeWide };
}

type Reply = ReplyOf[Task['kind']];

/** @param asWide runs with the cores that the task may have: a load has those of this worker alone */
async function answer(
  task: Task,
  models: WorkerModels,
  asWide: (run: () => Promise<Reply>) => Promise<Reply>,
): Promise<Reply> {
  if (task.kind === 'load') {
    const { report: loaded, warnings } = await models.load(task.modelId);
    return { report: loaded, warnings };
  }
  if (task.kind === 'probe') {
    for (const model of models.all) await model.probe();
    return {};
  }
  const model = await models.find(task.modelId);
  return await asWide(() => performTask(model?.family, task));
}

/** Errors cross threads as records: structured clone keeps no class. */
async function settleTask(action: () => Promise<Reply>): Promise<TaskReply> {
  try {
    return { value: await action() };
  } catch (error) {
    return { error: toErrorRecord(error) };
  }
}
