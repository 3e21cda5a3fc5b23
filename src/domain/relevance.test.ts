// The order of documents, and the numbers beside it.

import { describe, expect, it } from 'vitest';
import { rankDocuments, relevanceOf } from './relevance.ts';

describe('relevance', () => {
  it('is the logistic function of a score', () => {
    expect(relevanceOf(0)).toBe(0.5);
    expect(relevanceOf(2)).toBeCloseTo(0.880797, 6);
    expect(relevanceOf(-2)).toBeCloseTo(1 - relevanceOf(2), 15);
  });

  it.each([1000, -1000])('is a number for a score of %d', (score) => {
    expect(relevanceOf(score)).toBe(score > 0 ? 1 : 0);
  });
});

describe('a ranking', () => {
  it('has the most relevant first, and of equals the first of the request', () => {
    expect(rankDocuments([0, 3, -1, 3, 0]).map(({ index }) => index)).toEqual([1, 3, 0, 4, 2]);
  });

  it('tells scores apart that are as one when they are rounded', () => {
    const ranking = rankDocuments([40, 50]);
    expect(ranking.map(({ index }) => index)).toEqual([1, 0]);
    expect(ranking.map(({ relevance }) => relevance)).toEqual([1, 1]);
  });

  it('of no documents has none', () => {
    expect(rankDocuments([])).toEqual([]);
  });
});
