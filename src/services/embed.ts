// The use case of an embedding call: find the model, ask the engine.

import type { ModelCard } from '../domain/model-card.ts';
import type { JobTimings, Usage } from '../domain/usage.ts';
import type { EmbedInput, Engine } from '../engine/engine.ts';
import type { Catalog } from './catalog.ts';
import type { Requester } from './requester.ts';

export interface EmbeddingRequest {
  readonly modelId: string;
  /** 1 to 2,048, none of them empty. */
  readonly inputs: readonly EmbedInput[];
  readonly dimensions: number | undefined;
  readonly encoding: 'float' | 'base64';
}

export interface Embeddings {
  readonly model: ModelCard;
  /** `[inputs]`: Float32Array `[dimensions]`, or base64 of the same bytes, as asked. */
  readonly embeddings: readonly (Float32Array | string)[];
  readonly usage: Usage;
  readonly timings: JobTimings;
}

export class EmbedService {
  readonly #engine: Engine;
  readonly #catalog: Catalog;

  constructor(engine: Engine, catalog: Catalog) {
    this.#engine = engine;
    this.#catalog = catalog;
  }

  /** @throws AppError of the catalog and of the engine; the signal's reason when the client left before dispatch */
  async embed(request: EmbeddingRequest, requester: Requester): Promise<Embeddings> {
    const { modelId, ...job } = request;
    const model = this.#catalog.getModelOfType(requester.key, modelId, 'embedding');
    const result = await this.#engine.embed(
      { modelId: model.id, ...job },
      { keyId: requester.key.id, signal: requester.signal },
    );
    return {
      model,
      embeddings: result.embeddings,
      usage: { inputTokens: result.inputTokens, outputTokens: 0 },
      timings: result.timings,
    };
  }
}
