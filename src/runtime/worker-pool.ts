// The threads that run models. Only importer of piscina. Owns their start, their replacement and their end; what runs
// when is the engine's.

import { Piscina } from 'piscina';
import { AppError, fromErrorRecord, messageOf } from '../domain/errors.ts';
import type { DeviceNews, LoadReport } from './load-report.ts';
import type { BatchSetup, ReplyOf, Task, TaskOrder, TaskReply, WorkerSetup } from './messages.ts';
import { StartError } from './start-error.ts';

/** What the engine needs of a pool; its tests hand in their own. */
export interface InferencePool {
  readonly workers: number;
  /** Whose runs may take the cores of all workers; undefined: nobody's, or the models are not loaded. */
  readonly wideWorker?: number | undefined;
  /** Resolves when every worker has loaded every model. @throws StartError */
  readonly loaded: Promise<PoolReport>;
  /** Workers whose device has failed and is not open anew. Default: none */
  readonly failingWorkers?: number;
  /** Resolves with the reason when a device is lost to this process. Absent: never */
  readonly deviceLost?: Promise<string>;
  /**
   * Runs one task on one worker, which the caller sees to be free. It cannot be cancelled.
   * @param worker 0 to `workers` − 1; a worker that died is replaced under its number, with empty caches
   * @param isWide its runs take the cores of all workers, which have nothing to do; of `wideWorker` alone. The answer is
   * the same to the bit
   * @throws AppError what the worker said, or `internal_error` when the worker died
   */
  run<T extends Task>(task: T, worker: number, isWide?: boolean): Promise<ReplyOf[T['kind']]>;
  /** Ends the workers once nothing is in flight: ending one inside a run aborts the whole process. */
  close(): Promise<void>;
}

export interface PoolReport {
  readonly device: string;
  /** The same models in every worker; figures of the slowest. */
  readonly models: Extract<LoadReport, { kind: 'loaded' }>['models'];
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
}

/** As the operator has set them (config/batch-schema.ts). */
interface SharedRunSettings {
  readonly tokens: number;
  readonly exact: boolean;
  readonly onCpu: boolean;
  /** Runs at once. */
  readonly inFlight: number;
}

export interface WorkerPoolOptions extends Omit<WorkerSetup, 'turn' | 'scratchBytes' | 'batch'> {
  /** Default: no runs are shared */
  readonly batch?: SharedRunSettings | undefined;
  readonly workers: number;
  /** A worker died, or its replacement could not load. */
  readonly onFault: (message: string) => void;
  /** A device failed, and what came of it. Default: nobody listens */
  readonly onDevice?: (news: DeviceNews) => void;
  /** Entry of the workers. Default: worker.ts; tests hand in one that dies on demand. */
  readonly workerFile?: URL;
}

/** Only this one has sessions for all cores: the others would keep as many threads and as much memory for nothing. */
const WIDE_WORKER = 0;

const MIB = 1024 * 1024;
/** For each worker: 1,800 tokens of `kev`. What is longer comes in parts, to memory that workers share. */
const SCRATCH_BYTES = 32 * MIB;
/** Small objects live briefly in a worker; a small nursery keeps its memory down. */
const NURSERY_MIB = 4;

export class WorkerPool implements InferencePool {
  readonly workers: number;
  readonly loaded: Promise<PoolReport>;
  /** One pool of one thread each, so that a task can be given to the worker that knows its document. */
  readonly #threads: readonly Piscina[];
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #onFault: (message: string) => void;
  readonly #onDevice: (news: DeviceNews) => void;
  readonly #failing = new Set<number>();
  readonly #deviceLost = Promise.withResolvers<string>();
  #wideWorker: number | undefined;

  constructor(options: WorkerPoolOptions) {
    const { workers, onFault, onDevice, batch, workerFile = defaultWorkerFile(), ...setup } = options;
    // The runtime library reports home unless this is in the environment of the process before it is loaded; setting it
    // in a worker is too late. The one place besides config/load.ts that touches process.env, and it only writes.
    process.env['ORT_DISABLE_TELEMETRY'] = '1';
    this.workers = workers;
    this.#onFault = onFault;
    this.#onDevice = onDevice ?? (() => undefined);
    const workerData: WorkerSetup = {
      ...setup,
      aloneThreads: undefined,
      scratchBytes: SCRATCH_BYTES,
      turn: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
      batch: batch && openSlots(batch),
    };
    this.#threads = Array.from({ length: workers }, (_, worker) =>
      startThread(
        workerFile,
        worker === WIDE_WORKER ? { ...workerData, aloneThreads: setup.aloneThreads } : workerData,
      ),
    );
    this.loaded = this.#collectReports();
    // Whoever awaits it sees the failure; without this line a failure before anyone does would end the process.
    this.loaded.catch(() => undefined);
  }

  get wideWorker(): number | undefined {
    return this.#wideWorker;
  }

  get failingWorkers(): number {
    return this.#failing.size;
  }

  get deviceLost(): Promise<string> {
    return this.#deviceLost.promise;
  }

  async run<T extends Task>(task: T, worker: number, isWide = false): Promise<ReplyOf[T['kind']]> {
    const thread = this.#threads[worker];
    if (thread === undefined) throw new Error(`there is no worker ${worker}`);
    const running: Promise<TaskReply> = thread.run({ task, isWide } satisfies TaskOrder);
    this.#inFlight.add(running);
    try {
      const reply = await running.catch(toWorkerError);
      if ('error' in reply) throw fromErrorRecord(reply.error);
      return reply.value as ReplyOf[T['kind']];
    } finally {
      this.#inFlight.delete(running);
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.loaded]);
    await Promise.allSettled(this.#inFlight);
    await Promise.all(this.#threads.map((thread) => thread.destroy()));
  }

  #accept(reports: readonly Extract<LoadReport, { kind: 'loaded' }>[]): PoolReport {
    if (reports.some(({ canBeWide }) => canBeWide)) this.#wideWorker = WIDE_WORKER;
    return mergeReports(reports);
  }

  /** All workers report before anything is decided: one that is still loading may be inside a run. */
  #collectReports(): Promise<PoolReport> {
    const reports: LoadReport[] = [];
    return new Promise((resolve, reject) => {
      const take = (report: LoadReport | DeviceNews, worker: number) => {
        if (report.kind === 'device') return this.#takeNews(report, worker);
        reports.push(report);
        if (reports.length < this.workers) return;
        if (reports.length > this.workers) {
          if (report.kind === 'failed') this.#onFault(`a worker's replacement could not load: ${report.message}`);
          return;
        }
        const failed = reports.find((entry) => entry.kind === 'failed');
        if (failed !== undefined) reject(new StartError(failed.message));
        else resolve(this.#accept(reports.filter((entry) => entry.kind === 'loaded')));
      };
      const takeError = (error: unknown, worker: number) => {
        const message = messageOf(error);
        this.#failing.delete(worker);
        if (reports.length < this.workers) take({ kind: 'failed', message }, worker);
        else this.#onFault(`a worker died: ${message}`);
      };
      for (const [worker, thread] of this.#threads.entries()) {
        thread.on('message', (report) => take(report, worker));
        thread.on('error', (error) => takeError(error, worker));
      }
    });
  }

  #takeNews(news: DeviceNews, worker: number): void {
    if (news.state === 'revived') this.#failing.delete(worker);
    else this.#failing.add(worker);
    this.#onDevice(news);
    if (news.state === 'lost') this.#deviceLost.resolve(news.reason);
  }
}

function openSlots({ tokens, exact, onCpu, inFlight }: SharedRunSettings): BatchSetup {
  const slots = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  new Int32Array(slots)[0] = inFlight;
  return { tokens, isExact: exact, isForced: onCpu, slots };
}

function startThread(workerFile: URL, workerData: WorkerSetup): Piscina {
  return new Piscina({
    filename: workerFile.href,
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: 1,
    // The default parks an idle worker in Atomics.wait, where nothing else in it can go on.
    atomics: 'disabled',
    recordTiming: false,
    resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MIB },
    workerData,
  });
}

function mergeReports(reports: readonly Extract<LoadReport, { kind: 'loaded' }>[]): PoolReport {
  const [first] = reports;
  const models = (first?.models ?? []).map(
    (model, place) =>
      reports
        .map((report) => report.models[place] ?? model)
        .sort((a, b) => b.loadMs - a.loadMs)
        .at(0) ?? model,
  );
  return {
    device: first?.device ?? 'cpu',
    models,
    notes: [...new Set(reports.flatMap((report) => report.notes))],
    warnings: [...new Set(reports.flatMap((report) => report.warnings))],
  };
}

/** A worker that dies takes its task with it. */
function toWorkerError(cause: unknown): never {
  throw new AppError('internal_error', 'The worker that ran this died.', { cause });
}

/** The worker beside this file: TypeScript in the checkout, JavaScript once compiled. */
function defaultWorkerFile(): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./worker.${extension}`, import.meta.url);
}
