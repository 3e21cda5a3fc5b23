// Door of decision: all decision models of this engine, and what they share: which worker knows which document, and the
// memory in which workers decide together.

import type { Clock } from '../../domain/clock.ts';
import { sum } from '../../domain/sum.ts';
import type { LoadedModelReport } from '../../runtime/load-report.ts';
import type { Manifest, SplitEncoderManifest } from '../../runtime/model-folder/manifest.ts';
import type { TokenCounting } from '../cost/token-counting.ts';
import type { Caller, DecideJob, StateCacheCounts } from '../engine.ts';
import type { BatchLimits } from '../scheduling/batching.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import { DecidingModel, largestDocumentBytes } from './deciding-model.ts';
import { DecisionTicket } from './decision-ticket.ts';
import { SharedMemories } from './shared-memories.ts';
import { StateDirectory } from './state-directory.ts';

export interface DeciderOptions {
  readonly manifests: readonly SplitEncoderManifest[];
  readonly scheduler: Scheduler;
  readonly counting: TokenCounting;
  readonly clock: Clock;
  /** What each worker keeps of documents that it has read; 0: nothing. */
  readonly stateCacheBytes: number;
  /** Keys and values that workers share at the moment. undefined: one document of the largest size that a model takes. */
  readonly sharedMemoryBytes: number | undefined;
  /** Of runs that decisions share, where the workers say that they may. Default: never */
  readonly batch?: BatchLimits | undefined;
  /** What a run of a device takes, shared or not. Default: that of `batch` */
  readonly runTokens?: number | undefined;
}

export class Decider {
  readonly #models: ReadonlyMap<string, DecidingModel>;
  readonly #directory: StateDirectory;

  constructor(options: DeciderOptions) {
    const { manifests, scheduler, counting, clock, stateCacheBytes, sharedMemoryBytes, batch, runTokens } = options;
    const largestBytes = Math.max(0, ...manifests.map(largestDocumentBytes));
    const memories = new SharedMemories({ budgetBytes: sharedMemoryBytes ?? largestBytes, largestBytes, clock });
    const directory = new StateDirectory(scheduler.workers, stateCacheBytes);
    const shared = { scheduler, counting, directory, memories, batch, runTokens };
    this.#directory = directory;
    this.#models = new Map(manifests.map((manifest) => [manifest.id, new DecidingModel({ ...shared, manifest })]));
  }

  /** Of all models, since the start. */
  get stateCache(): StateCacheCounts {
    const counts = [...this.#models.values()].map((model) => model.stateCache);
    return {
      stateTokens: sum(counts.map(({ stateTokens }) => stateTokens)),
      keptTokens: sum(counts.map(({ keptTokens }) => keptTokens)),
    };
  }

  calibrate(report: LoadedModelReport): void {
    this.#models.get(report.modelId)?.calibrate(report);
  }

  /** @returns undefined when none of these models is asked */
  ticketFor(job: DecideJob, caller: Caller): DecisionTicket | undefined {
    const model = this.#models.get(job.modelId);
    return model && new DecisionTicket(model, job, caller);
  }

  /** It was replaced, and its replacement knows nothing. */
  forgetWorker(worker: number): void {
    this.#directory.forget(worker);
  }
}

/** What documents that workers have read may come to: what each keeps, and what all of them share. */
export function documentCacheBytes(
  manifests: readonly Manifest[],
  { workers, stateCacheBytes }: { readonly workers: number; readonly stateCacheBytes: number },
): number {
  const readers = manifests.filter((manifest) => manifest.family === 'split-encoder');
  if (readers.length === 0) return 0;
  return workers * stateCacheBytes + Math.max(...readers.map(largestDocumentBytes));
}
