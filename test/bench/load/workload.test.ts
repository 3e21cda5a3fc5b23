// The bench's documents are as long as they say, and never the same twice.

import { describe, expect, it } from 'vitest';
import { VOCABULARY } from '../../../bench/load/vocabulary.ts';
import { makeDecision, makeDocument, makeRandom, toQuestions } from '../../../bench/load/workload.ts';
import { BertTokenizer } from '../../../src/runtime/tokenizer/bert-tokenizer.ts';
import { readShippedTokenizer } from '../../models/shipped-tokenizer.ts';

const tokenizer = new BertTokenizer(readShippedTokenizer('text-embed-mini'));

describe('a document', () => {
  it.each([0, 1, 512, 2000])('of %i tokens has as many', (tokens) => {
    expect(tokenizer.encode(makeDocument(tokens))).toHaveLength(tokens);
  });

  it('is made of words of one token each', () => {
    expect(VOCABULARY.filter((word) => tokenizer.encode(word).length !== 1)).toEqual([]);
  });

  it('is new every time, so that no cache can answer it', () => {
    expect(new Set(Array.from({ length: 1000 }, () => makeDocument(64))).size).toBe(1000);
  });
});

describe('a decision', () => {
  it('has as many questions as asked for, in three types', () => {
    const questions = toQuestions(makeDecision({ stateTokens: 8, questions: 16 }));
    expect(questions).toHaveLength(16);
    expect(new Set(questions.map((question) => question.type))).toEqual(new Set(['choice', 'noul', 'score']));
  });

  it('of kind choice has four options in every question', () => {
    const questions = toQuestions(makeDecision({ stateTokens: 8, questions: 8, kind: 'choice' }));
    expect(questions.map((question) => question.type === 'choice' && question.options.length)).toEqual(
      Array(8).fill(4),
    );
  });
});

describe('makeRandom', () => {
  it('repeats itself for the same seed and stays in [0, 1)', () => {
    const [left, right] = [makeRandom(7), makeRandom(7)];
    const values = Array.from({ length: 1000 }, () => left());
    expect(values).toEqual(Array.from({ length: 1000 }, () => right()));
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...values)).toBeLessThan(1);
  });
});
