import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Question } from '../domain/question.ts';
import { groupQuestions, planSharing, type SharingInputs } from './shared-decision.ts';

const large: SharingInputs = {
  idleWorkers: 2,
  queuedJobs: 0,
  costMs: 200,
  stateTokens: 1000,
  windowTokens: 256,
  questions: 8,
};

describe('sharing a decision', () => {
  it('is worth it for a large one between idle workers', () => {
    expect(planSharing(large)).toEqual({ shares: 2, groups: 2 });
    expect(planSharing({ ...large, idleWorkers: 4 })).toEqual({ shares: 3, groups: 4 });
  });

  it('shares only what can be shared', () => {
    expect(planSharing({ ...large, questions: 1 })).toEqual({ shares: 2, groups: 1 });
    expect(planSharing({ ...large, stateTokens: 100 })).toEqual({ shares: 1, groups: 2 });
    expect(planSharing({ ...large, stateTokens: 100, questions: 1 })).toBeUndefined();
  });

  it('is left when others wait, when one worker is free, and for small and giant decisions', () => {
    expect(planSharing({ ...large, queuedJobs: 1 })).toBeUndefined();
    expect(planSharing({ ...large, idleWorkers: 1 })).toBeUndefined();
    expect(planSharing({ ...large, costMs: 10 })).toBeUndefined();
    expect(planSharing({ ...large, stateTokens: 8000 })).toBeUndefined();
  });
});

describe('groups of questions', () => {
  const ask = (instructions: string): Question => ({ type: 'noul', instructions, whenFalse: null, whenTrue: null });

  it('are of like size', () => {
    const questions = ['x'.repeat(90), '', 'y'.repeat(40), 'z'.repeat(40)].map(ask);
    expect(groupQuestions(questions, 2)).toEqual([
      [0, 1],
      [2, 3],
    ]);
  });

  it('hold every question once, in order, and none is empty', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), fc.integer({ min: 1, max: 8 }), (texts, wanted) => {
        const groups = groupQuestions(texts.map(ask), Math.min(wanted, texts.length));
        expect(groups.flat().sort((a, b) => a - b)).toEqual(texts.map((_, place) => place));
        for (const places of groups) expect(places).toEqual([...places].sort((a, b) => a - b));
        expect(groups.every((places) => places.length > 0)).toBe(true);
      }),
    );
  });
});
