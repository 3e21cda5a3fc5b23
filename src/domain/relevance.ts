// How relevant documents are to a query: the scores of a reranker as numbers that callers can read, and their order. Pure.

/** One document of a call in its place of the ranking. */
export interface RankedDocument {
  /** Its place in the request, from 0. */
  readonly index: number;
  /** What the reranker gave. */
  readonly score: number;
  /** Above 0 and below 1, but for rounding. */
  readonly relevance: number;
}

/** The logistic function. @param score what a reranker gave: any number, the higher the more relevant */
export function relevanceOf(score: number): number {
  return 1 / (1 + Math.exp(-score));
}

/** The most relevant first; of equal ones the first in the request. @param scores `[documents]` */
export function rankDocuments(scores: readonly number[]): RankedDocument[] {
  return scores
    .map((score, index) => ({ index, score }))
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ index, score }) => ({ index, score, relevance: relevanceOf(score) }));
}
