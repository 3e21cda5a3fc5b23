// What the outside may know of a model, local or upstream. `/ai/v1/models` prints it; access is decided by id.

import type { LearnedFigures } from './learned-figures.ts';
import type { Price } from './money.ts';
import type { QuestionType } from './question.ts';

export type ModelType = 'llm' | 'embedding' | 'decision' | 'reranker';

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
  /** `organisation/name@commit` of a model that was pulled from a hub; undefined: it was not. */
  readonly source?: string;
  /** Of a decision model: whether its probabilities were fitted to labelled rows. */
  readonly isCalibrated?: boolean;
  /** Limits by the manifest's own names: in tokens, but for `request_rows`. */
  readonly limits?: Readonly<Record<string, number>>;
  /** Names of the prompts of an embedding model. */
  readonly prompts?: readonly string[];
  /** Of a learned model; undefined: it is none. */
  readonly learned?: LearnedCard;
}

/** What a learned model stands on, and what it has learned. */
export interface LearnedCard {
  readonly base: ModelReference;
  /** Whose vectors it reads besides; undefined: none. */
  readonly embedder?: ModelReference | undefined;
  readonly questions: readonly LearnedQuestionCard[];
}

/** A model, and the digest of its folder. */
export interface ModelReference {
  readonly id: string;
  /** `sha256:…` */
  readonly digest: string;
}

/** A question without its texts. */
export interface LearnedQuestionCard {
  readonly type: QuestionType;
  /** SHA-256 hex of type and instructions; noul and score: criteria too. */
  readonly asked: string;
  /** `[options]` SHA-256 hex of each; choice: ascending; noul: false, true; score: levels in order. */
  readonly options: readonly string[];
  /** `[options]` rows it was learned from; a row of several options counts in each by its share. */
  readonly rows: readonly number[];
  readonly figures: LearnedFigures;
}

/** The endpoint a model type works on. */
export const ENDPOINT_OF_TYPE: Readonly<Record<ModelType, string>> = {
  llm: '/ai/v1/chat/completions',
  embedding: '/ai/v1/embeddings',
  decision: '/ai/v1/systemone',
  reranker: '/ai/v1/rerank',
};
