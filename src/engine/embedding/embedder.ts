// Door of embedding: all embedding models of this engine.

import type { LongInputs, TimedCase } from '../../runtime/messages.ts';
import type { TextEncoderManifest } from '../../runtime/model-folder/manifest.ts';
import type { TokenCounting } from '../cost/token-counting.ts';
import type { Caller, EmbedJob } from '../engine.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import { embeddingLimits } from './embedding-limits.ts';
import { EmbeddingModel } from './embedding-model.ts';
import { EmbeddingTicket } from './embedding-ticket.ts';

export interface EmbedderOptions {
  readonly manifests: readonly TextEncoderManifest[];
  readonly scheduler: Scheduler;
  readonly counting: TokenCounting;
  /** What becomes of long inputs where the caller does not say it. */
  readonly longInputs: LongInputs;
}

export class Embedder {
  readonly #models: ReadonlyMap<string, EmbeddingModel>;
  readonly #longInputs: LongInputs;

  constructor({ manifests, ...shared }: EmbedderOptions) {
    this.#longInputs = shared.longInputs;
    this.#models = new Map(manifests.map((manifest) => [manifest.id, new EmbeddingModel({ ...shared, manifest })]));
  }

  /** As the card of a model tells them. */
  limitsOf(manifest: TextEncoderManifest): Record<string, number> {
    return embeddingLimits(manifest, this.#longInputs);
  }

  /** @param cases one input each, run warm */
  calibrate(modelId: string, cases: readonly TimedCase[]): void {
    this.#models.get(modelId)?.calibrate(cases);
  }

  /** @returns undefined when none of these models is asked */
  ticketFor(job: EmbedJob, caller: Caller): EmbeddingTicket | undefined {
    const model = this.#models.get(job.modelId);
    return model && new EmbeddingTicket(model, job, caller);
  }
}
