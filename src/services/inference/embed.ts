// The use case of an embedding call: find the model, ask the engine under the accounting.

import type { ModelCard } from '../../domain/model-card.ts';
import type { JobTimings, Usage } from '../../domain/usage.ts';
import type { Caller, EmbedInput, EmbedJob, Engine, ResultSource } from '../../engine/engine.ts';
import type { Accounting } from '../accounting/accounting.ts';
import type { Catalog } from '../catalog.ts';
import type { Requester } from '../requester.ts';
import { countRoughly, type LocalReply, type ReplyWriter, runMetered } from './metered-run.ts';

export interface EmbeddingRequest {
  readonly modelId: string;
  /** 1 to 2,048, none of them empty. */
  readonly inputs: readonly EmbedInput[];
  readonly dimensions: number | undefined;
  readonly encoding: 'float' | 'base64';
  /** Whether no more than the first tokens of a long input are read. */
  readonly truncate: boolean;
}

export interface Embeddings {
  readonly model: ModelCard;
  /** `[inputs]`: Float32Array `[dimensions]`, or base64 of the same bytes, as asked. */
  readonly embeddings: readonly (Float32Array | string)[];
  /** Places of inputs that were cut, ascending. */
  readonly truncated: readonly number[];
  readonly usage: Usage;
  readonly timings: JobTimings;
  readonly source: ResultSource;
}

export class EmbedService {
  readonly #engine: Engine;
  readonly #catalog: Catalog;
  readonly #accounting: Accounting;

  constructor(engine: Engine, catalog: Catalog, accounting: Accounting) {
    this.#engine = engine;
    this.#catalog = catalog;
    this.#accounting = accounting;
  }

  /**
   * @throws AppError of the catalog, the accounting and the engine; the signal's reason when the client left before
   * dispatch
   */
  async embed(
    { modelId, ...asked }: EmbeddingRequest,
    requester: Requester,
    writer: ReplyWriter<Embeddings>,
  ): Promise<LocalReply<Embeddings>> {
    const model = this.#catalog.getModelOfType(requester.key, modelId, 'embedding');
    const job: EmbedJob = { modelId: model.id, ...asked };
    const { key, signal, deadlineMs } = requester;
    const caller: Caller = { keyId: key.id, signal, deadlineMs };
    return runMetered({
      accounting: this.#accounting,
      requester,
      model,
      roughTokens: countRoughly(job.inputs),
      findRefusal: () => this.#engine.findRefusal(job, caller),
      countTokens: () => this.#engine.countEmbeddingTokens(job, caller),
      run: async () => {
        const { embeddings, inputTokens, truncated, timings, source } = await this.#engine.embed(job, caller);
        return { model, embeddings, truncated, usage: { inputTokens, outputTokens: 0 }, timings, source };
      },
      writer,
    });
  }
}
