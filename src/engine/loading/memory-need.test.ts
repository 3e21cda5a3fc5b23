import { describe, expect, it } from 'vitest';
import { memoryNeed } from './memory-need.ts';

const MIB = 2 ** 20;
const size = { weightBytes: 100 * MIB, largestGraphBytes: 0, tokenizerBytes: MIB, tokenizerKind: 'WordPiece' };
const need = (changes: Partial<typeof size> = {}, around = { workers: 2, isMapped: true }, peak?: number) => {
  const probe = peak && { date: '2026-01-01', agreement: {}, peak_bytes: peak, stated_tokens: 1 };
  return memoryNeed(probe ? { probe } : {}, { ...size, ...changes }, around) / MIB;
};

describe('the memory a model needs', () => {
  it('has the weights once where they are mapped, else in each worker', () => {
    expect(need()).toBeCloseTo(110 + 2 * (16 + 8 + 64), 4);
    expect(need({}, { workers: 2, isMapped: false })).toBeCloseTo(220 + 2 * (16 + 8 + 64), 4);
  });

  it('has the peak that was measured for the model', () => {
    expect(need({}, { workers: 2, isMapped: true }, 500 * MIB) - need()).toBeCloseTo(2 * (500 - 64), 4);
  });

  it('has smaller runs for a smaller model', () => {
    expect(need({ weightBytes: 10 * MIB })).toBeCloseTo(11 + 2 * (16 + 8 + 10), 4);
  });

  it('has the tree of a Unigram vocabulary in each worker', () => {
    expect(need({ tokenizerKind: 'Unigram' }) - need()).toBeCloseTo(2 * (38 - 8), 4);
  });
});
