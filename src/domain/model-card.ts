// What the outside may know of a model, local or upstream. `/ai/v1/models` prints it; access is decided by id.

import type { Price } from './money.ts';

export type ModelType = 'llm' | 'embedding' | 'decision';

export interface ModelCard {
  readonly id: string;
  /** Id of the model that this is another name of; undefined: a model of its own. */
  readonly aliasOf?: string;
  readonly type: ModelType;
  readonly description: string;
  readonly ownedBy: string;
  /** ISO date, `2026-11-21`. */
  readonly releaseDate: string;
  readonly price: Price;
  /** `sha256:…` of the model folder; undefined for upstream models. */
  readonly digest?: string;
  /** Limits in tokens, by the manifest's own names. */
  readonly limits?: Readonly<Record<string, number>>;
}

/** The endpoint a model type works on. */
export const ENDPOINT_OF_TYPE: Readonly<Record<ModelType, string>> = {
  llm: '/ai/v1/chat/completions',
  embedding: '/ai/v1/embeddings',
  decision: '/ai/v1/systemone',
};
