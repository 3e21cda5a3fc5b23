// What a learned model is made of: heads over a base. Types alone.

import type { LearnedFigures } from '../domain/learned-figures.ts';
import type { ModelReference } from '../domain/model-card.ts';
import type { QuestionType } from '../domain/question.ts';

/** A part of a document's vector that is normalised by itself. */
export interface VectorPart {
  readonly dimensions: number;
  /** Divided by its length after the centre was taken away. */
  readonly isUnit: boolean;
}

/**
 * logit of option k = (offset · log p_k + biases_k + place_k · (weights · x)) / temperature, with p the base's own
 * probabilities and x the normalised vector. A choice has a row of weights for each option, and place_k picks it; noul and
 * score have one row, and place_k is the centred place of the option (noul: −½, ½).
 */
export interface Head {
  readonly offset: number;
  readonly temperature: number;
  /** Stands in for biases and weights where an option was never learned. */
  readonly newOption: number;
  readonly parts: readonly VectorPart[];
  /** `[dimensions]`, taken away from the vector. */
  readonly centre: Float32Array;
  /** `[options]` */
  readonly biases: Float64Array;
  /** `[rows, dimensions]`: rows are options for a choice, else one. */
  readonly weights: Float32Array;
}

/** A question by its hashes: nothing here holds a text of a caller. */
export interface LearnedQuestion {
  readonly type: QuestionType;
  /** SHA-256 hex of type and instructions; noul and score: criteria too. */
  readonly asked: string;
  /** `[options]` SHA-256 hex of each; choice: ascending; noul: false, true; score: levels in order. */
  readonly options: readonly string[];
  readonly head: Head;
  /** `[options]` rows it was fitted on; a row of several options counts in each by its share. */
  readonly rows: readonly number[];
  readonly figures: LearnedFigures;
}

export interface LearnedModel {
  readonly id: string;
  readonly base: ModelReference;
  /** Whose vector is joined to the base's, or stands in for it. */
  readonly embedder: ModelReference | undefined;
  /** Of the vector: the base's, the question's view, the embedder's. */
  readonly dimensions: number;
  readonly questions: readonly LearnedQuestion[];
}
