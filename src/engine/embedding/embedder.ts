// Door of embedding: all embedding models of this engine.

import type { ModelCard } from '../../domain/model-card.ts';
import type { LoadedModelReport } from '../../runtime/load-report.ts';
import type { LongInputs } from '../../runtime/messages.ts';
import type { ModelFolder, TextEncoderManifest } from '../../runtime/model-folder/manifest.ts';
import type { TokenCounting } from '../cost/token-counting.ts';
import type { Caller, EmbedJob } from '../engine.ts';
import type { BatchLimits } from '../scheduling/batching.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import { EmbeddingModel } from './embedding-model.ts';
import { EmbeddingTicket } from './embedding-ticket.ts';

export type EmbeddingFolder = ModelFolder & { readonly manifest: TextEncoderManifest };

export interface EmbedderOptions {
  readonly folders: readonly EmbeddingFolder[];
  readonly scheduler: Scheduler;
  readonly counting: TokenCounting;
  /** What becomes of long inputs where the caller does not say it. */
  readonly longInputs: LongInputs;
  /** Of runs that texts of several callers share, where the workers say that they may. Default: never */
  readonly batch?: BatchLimits | undefined;
}

export class Embedder {
  readonly #models: ReadonlyMap<string, EmbeddingModel>;

  constructor({ folders, ...shared }: EmbedderOptions) {
    const models = folders.map(({ manifest, frames }) => new EmbeddingModel({ ...shared, manifest, frames }));
    this.#models = new Map(models.map((model) => [model.manifest.id, model]));
  }

  /** What the card of a model tells besides. @returns undefined of any other */
  describe(modelId: string): Pick<ModelCard, 'limits' | 'prompts'> | undefined {
    const model = this.#models.get(modelId);
    return model && { limits: model.limits, prompts: Object.keys(model.manifest.prompts) };
  }

  /** @param report of the slowest worker, with cases of one input each, run warm */
  calibrate(report: LoadedModelReport): void {
    this.#models.get(report.modelId)?.calibrate(report);
  }

  /** @returns undefined when none of these models is asked */
  ticketFor(job: EmbedJob, caller: Caller): EmbeddingTicket | undefined {
    const model = this.#models.get(job.modelId);
    return model && new EmbeddingTicket(model, job, caller);
  }
}
