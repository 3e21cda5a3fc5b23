// All models of the server, local and upstream, at the price in force, and who may use which. Knows nothing of HTTP:
// endpoints are named in messages because a caller must be told where a model works.

import { type ApiKey, mayUseModel } from '../domain/api-key.ts';
import { AppError } from '../domain/errors.ts';
import { ENDPOINT_OF_TYPE, type ModelCard, type ModelType } from '../domain/model-card.ts';
import { findNearest } from '../domain/near-miss.ts';

/** Anything that offers models: the engine, the chat upstreams. */
export interface ModelSource {
  readonly models: readonly ModelCard[];
}

/** Puts the price in force on a card. */
export interface Pricing {
  priced(card: ModelCard): ModelCard;
}

const OWN_PRICES: Pricing = { priced: (card) => card };

export class Catalog {
  readonly #cards = new Map<string, ModelCard>();
  readonly #pricing: Pricing;

  /**
   * @param pricing default: every model at its own price
   * @throws Error when two sources offer the same id: a fault of the configuration, found at the start
   */
  constructor(sources: readonly ModelSource[], pricing: Pricing = OWN_PRICES) {
    this.#pricing = pricing;
    for (const card of sources.flatMap((source) => source.models)) {
      if (this.#cards.has(card.id)) throw new Error(`Two models have the id "${card.id}".`);
      this.#cards.set(card.id, card);
    }
  }

  /** Exactly the models the key may use. */
  list(key: ApiKey): readonly ModelCard[] {
    return this.all().filter((card) => mayUseModel(key, card.id));
  }

  all(): readonly ModelCard[] {
    return [...this.#cards.values()].map((card) => this.#pricing.priced(card));
  }

  has(modelId: string): boolean {
    return this.#cards.has(modelId);
  }

  /** @throws AppError `model_not_found`, `model_not_allowed` */
  getModel(key: ApiKey, modelId: string): ModelCard {
    const card = this.#cards.get(modelId);
    if (card === undefined) {
      const near = findNearest(modelId, this.#idsFor(key));
      const message = [
        'The model does not exist.',
        ...(near === undefined ? [] : [`Did you mean "${near}"?`]),
        'GET /ai/v1/models lists the models of this key.',
      ].join(' ');
      throw new AppError('model_not_found', message, { param: 'model' });
    }
    if (!mayUseModel(key, modelId)) {
      throw new AppError('model_not_allowed', 'This key may not use the model.', { param: 'model' });
    }
    return this.#pricing.priced(card);
  }

  /** A key is told of no other models. */
  #idsFor(key: ApiKey): string[] {
    return [...this.#cards.keys()].filter((id) => mayUseModel(key, id));
  }

  /** @throws AppError `model_not_found`, `model_not_allowed`, `model_type_mismatch` */
  getModelOfType(key: ApiKey, modelId: string, type: ModelType): ModelCard {
    const card = this.getModel(key, modelId);
    if (card.type !== type) {
      const message = `This is a model of type "${card.type}". It works on POST ${ENDPOINT_OF_TYPE[card.type]}.`;
      throw new AppError('model_type_mismatch', message, { param: 'model' });
    }
    return card;
  }
}
