// All models of the server, local and upstream, at the price in force, and who may use which. Knows nothing of HTTP:
// endpoints are named in messages because a caller must be told where a model works.

import { type ApiKey, mayUseModel } from '../domain/api-key.ts';
import { AppError } from '../domain/errors.ts';
import { ENDPOINT_OF_TYPE, type ModelCard, type ModelType } from '../domain/model-card.ts';
import { findNearest } from '../domain/near-miss.ts';

/** Anything that offers models: the engine, learned models, the chat upstreams. What it offers may change at any time. */
export interface ModelSource {
  readonly models: readonly ModelCard[];
  /** Models that there are, and that cannot be served now. Default: none */
  readonly unserved?: readonly UnservedModel[];
}

export interface UnservedModel {
  readonly id: string;
  /** In words without paths. */
  readonly reason: string;
}

/** Puts the price in force on a card. */
export interface Pricing {
  priced(card: ModelCard): ModelCard;
}

/** Another name of a model to its id. */
export type Aliases = Readonly<Record<string, string>>;

const OWN_PRICES: Pricing = { priced: (card) => card };

export class Catalog {
  readonly #sources: readonly ModelSource[];
  /** Ids of models by their other names. */
  #aliases: ReadonlyMap<string, string> = new Map();
  readonly #pricing: Pricing;

  /**
   * @param pricing default: every model at its own price
   * @throws Error when two sources offer the same id, or an alias is no other name of a model: faults of the
   * configuration, found at the start
   */
  constructor(sources: readonly ModelSource[], pricing: Pricing = OWN_PRICES, aliases: Aliases = {}) {
    this.#sources = sources;
    this.#pricing = pricing;
    const ids = this.#cards().map(({ id }) => id);
    const twice = ids.find((id, place) => ids.indexOf(id) !== place);
    if (twice !== undefined) throw new Error(`Two models have the id "${twice}".`);
    this.rename(aliases);
  }

  /** Takes these in the place of the aliases so far. @throws Error when one is no other name of a model */
  rename(aliases: Aliases): void {
    this.#aliases = new Map(Object.entries(aliases));
    for (const [alias, modelId] of this.#aliases) this.#checkAlias(alias, modelId);
  }

  /** Exactly what the key may name as a model: models, then their other names. */
  list(key: ApiKey): readonly ModelCard[] {
    return this.#namesFor(key).flatMap((name) => this.#describe(name) ?? []);
  }

  /** A model, or an alias as if it were one. @throws AppError `model_not_found`, `model_not_allowed` */
  describe(key: ApiKey, name: string): ModelCard {
    const card = this.#describe(name);
    if (card === undefined) throw this.#notServed(key, name);
    if (!this.#mayUse(key, name)) throw modelNotAllowed();
    return card;
  }

  /** Without aliases. */
  all(): readonly ModelCard[] {
    return this.#cards().map((card) => this.#priced(card));
  }

  has(modelId: string): boolean {
    return this.#find(modelId) !== undefined;
  }

  /**
   * The model of that name, under its own id: that is what runs, is billed and is told.
   * @throws AppError `model_not_found`, `model_not_allowed`
   */
  getModel(key: ApiKey, name: string): ModelCard {
    const card = this.#find(this.#aliases.get(name) ?? name);
    if (card === undefined) throw this.#notServed(key, name);
    if (!this.#mayUse(key, name)) throw modelNotAllowed();
    return this.#priced(card);
  }

  /** There is no such model, or there is one that cannot be served. */
  #notServed(key: ApiKey, name: string): AppError {
    const unserved = this.#findUnserved(this.#aliases.get(name) ?? name);
    if (unserved === undefined) return this.#notFound(key, name);
    if (!this.#mayUse(key, name)) return modelNotAllowed();
    return new AppError('model_unavailable', `The model is not served: ${unserved.reason}.`, { param: 'model' });
  }

  /** A key is told of no other models. */
  #notFound(key: ApiKey, name: string): AppError {
    const near = findNearest(name, this.#namesFor(key));
    const message = [
      'The model does not exist.',
      ...(near === undefined ? [] : [`Did you mean "${near}"?`]),
      'GET /ai/v1/models lists the models of this key.',
    ].join(' ');
    return new AppError('model_not_found', message, { param: 'model' });
  }

  #namesFor(key: ApiKey): string[] {
    // What an alias stands for may have left.
    const aliases = [...this.#aliases].filter(([, modelId]) => this.has(modelId)).map(([alias]) => alias);
    return [...this.#cards().map(({ id }) => id), ...aliases].filter((name) => this.#mayUse(key, name));
  }

  /** @throws AppError `model_not_found`, `model_not_allowed`, `model_type_mismatch` */
  getModelOfType(key: ApiKey, name: string, type: ModelType): ModelCard {
    const card = this.getModel(key, name);
    if (card.type !== type) {
      const message = `This is a model of type "${card.type}". It works on POST ${ENDPOINT_OF_TYPE[card.type]}.`;
      throw new AppError('model_type_mismatch', message, { param: 'model' });
    }
    return card;
  }

  /**
   * For requests that may leave the model out.
   * @throws AppError `invalid_request` where the key may use none of that type, or more than one
   */
  getOnlyModelOfType(key: ApiKey, type: ModelType): ModelCard {
    const own = this.#namesFor(key).map((name) => this.getModel(key, name));
    const [card, ...others] = own.filter((each) => each.type === type);
    if (card !== undefined && others.every(({ id }) => id === card.id)) return card;
    const count = card === undefined ? 'no model' : 'several models';
    const message = `The field 'model' is needed: this key may use ${count} of type "${type}".`;
    throw new AppError('invalid_request', message, { param: 'model' });
  }

  /** Whoever may use a model may call it by any of its names; a key for an alias alone opens that name alone. */
  #mayUse(key: ApiKey, name: string): boolean {
    const modelId = this.#aliases.get(name);
    return mayUseModel(key, name) || (modelId !== undefined && mayUseModel(key, modelId));
  }

  #describe(name: string): ModelCard | undefined {
    const aliasOf = this.#aliases.get(name);
    const card = this.#find(aliasOf ?? name);
    const priced = card && this.#priced(card);
    return priced === undefined || aliasOf === undefined ? priced : { ...priced, id: name, aliasOf };
  }

  /** A learned model costs what its base costs, as long as it has no price of its own. */
  #priced(card: ModelCard): ModelCard {
    const base = card.learned && this.#find(card.learned.base.id);
    return this.#pricing.priced(base === undefined ? card : { ...card, price: this.#pricing.priced(base).price });
  }

  #cards(): ModelCard[] {
    return this.#sources.flatMap(({ models }) => models);
  }

  #find(modelId: string): ModelCard | undefined {
    for (const { models } of this.#sources) {
      const card = models.find(({ id }) => id === modelId);
      if (card !== undefined) return card;
    }
    return undefined;
  }

  #findUnserved(modelId: string): UnservedModel | undefined {
    return this.#sources.flatMap(({ unserved = [] }) => unserved).find(({ id }) => id === modelId);
  }

  #checkAlias(alias: string, modelId: string): void {
    if (this.has(alias)) throw new Error(`aliases: "${alias}" is the id of a model.`);
    if (this.has(modelId) || this.#findUnserved(modelId) !== undefined) return;
    const reason = this.#aliases.has(modelId) ? 'is an alias itself' : 'is no model of this server';
    throw new Error(`aliases: "${alias}" stands for "${modelId}", which ${reason}.`);
  }
}

function modelNotAllowed(): AppError {
  return new AppError('model_not_allowed', 'This key may not use the model.', { param: 'model' });
}
