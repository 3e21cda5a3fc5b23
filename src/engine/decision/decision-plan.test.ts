import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DecisionPlan, durationMs, groupQuestions, type PlanInputs, planDecision } from './decision-plan.ts';

const large: PlanInputs = {
  idleWorkers: 2,
  isWide: false,
  queuedJobs: 0,
  stateTokens: 1000,
  windowTokens: 256,
  limitTokens: 8192,
  keptPart: 0,
  encodeMs: 120,
  answersMs: [12, 12, 12, 12],
  answerRuns: [],
  instructionsMs: [],
  isReadInPlace: false,
  rejoinMs: 0,
};

function shapeOf(plan: DecisionPlan | undefined) {
  return plan === undefined ? 'whole' : [plan.shares, plan.groups.length];
}

describe('plan of a decision', () => {
  it('gives idle workers as many windows each, and small parts at the end', () => {
    expect(shapeOf(planDecision(large))).toEqual([4, 4]);
    expect(shapeOf(planDecision({ ...large, encodeMs: 40 }))).toEqual([2, 4]);
    expect(shapeOf(planDecision({ ...large, answersMs: [12] }))).toEqual([4, 1]);
  });

  it('cuts a dear decision for the sake of others too', () => {
    expect(shapeOf(planDecision({ ...large, idleWorkers: 0, queuedJobs: 3 }))).toEqual([4, 2]);
    expect(shapeOf(planDecision({ ...large, idleWorkers: 1, answersMs: [40, 40, 40] }))).toEqual([4, 3]);
  });

  it('leaves a short one whole, and one that nobody could share unless it is dear', () => {
    expect(shapeOf(planDecision({ ...large, encodeMs: 20, answersMs: [10] }))).toBe('whole');
    const middling = { ...large, stateTokens: 500, encodeMs: 58, answersMs: [9] };
    expect(shapeOf(planDecision(middling))).toEqual([2, 1]);
    expect(shapeOf(planDecision({ ...middling, queuedJobs: 1 }))).toBe('whole');
    expect(shapeOf(planDecision({ ...large, stateTokens: 200, encodeMs: 22, answersMs: [200] }))).toBe('whole');
  });

  it('leaves a middling one whole for a run with all cores, and shares a dear one as ever', () => {
    expect(shapeOf(planDecision({ ...large, isWide: true, encodeMs: 58, answersMs: [9] }))).toBe('whole');
    expect(shapeOf(planDecision({ ...large, isWide: true }))).toEqual([4, 4]);
  });

  it('leaves a kept document where it is, unless its answers alone are dear', () => {
    expect(shapeOf(planDecision({ ...large, keptPart: 1 }))).toBe('whole');
    expect(shapeOf(planDecision({ ...large, keptPart: 1, answersMs: [60, 60] }))).toEqual([1, 2]);
  });

  it('has one worker answer beside a giant document, unless it is read where it was written', () => {
    const giant = { ...large, stateTokens: 8000, encodeMs: 900 };
    expect(planDecision(large)?.isAnsweredByOne).toBe(false);
    expect(planDecision(giant)?.isAnsweredByOne).toBe(true);
    expect(planDecision({ ...giant, isReadInPlace: true })?.isAnsweredByOne).toBe(false);
  });

  it('cuts a question that is too long for a part, by its runs at most, and groups the others', () => {
    const wide = { ...large, answersMs: [12, 900, 12, 450], answerRuns: [1, 40, 1, 4] };
    expect(planDecision(wide)).toMatchObject({
      sliced: [
        { place: 1, slices: 20 },
        { place: 3, slices: 4 },
      ],
      groups: [[0], [2]],
    });
    expect(planDecision({ ...wide, rejoinMs: 30 })?.sliced[0]).toEqual({ place: 1, slices: 10 });
    // Each slice would encode long instructions anew.
    expect(planDecision({ ...wide, instructionsMs: [0, 60, 0, 200] })?.sliced).toEqual([{ place: 1, slices: 5 }]);
    const alone = { ...large, stateTokens: 200, encodeMs: 22, answersMs: [900], answerRuns: [40], idleWorkers: 0 };
    expect(planDecision(alone)).toMatchObject({ shares: 1, groups: [], sliced: [{ place: 0, slices: 20 }] });
    expect(planDecision({ ...alone, answerRuns: [1] })).toBeUndefined();
    expect(durationMs(planDecision({ ...alone, idleWorkers: 2 }), { ...alone, idleWorkers: 2 })).toBe(472);
  });

  it('makes longer answering parts where each must put the document together', () => {
    const busy = { ...large, idleWorkers: 0, answersMs: new Array<number>(8).fill(30) };
    expect(shapeOf(planDecision(busy))).toEqual([4, 6]);
    expect(shapeOf(planDecision({ ...busy, rejoinMs: 30 }))).toEqual([4, 3]);
  });

  it('knows how long a decision takes when nothing comes between', () => {
    const duration = (inputs: PlanInputs) => durationMs(planDecision(inputs), inputs);
    expect(duration(large)).toBe(60 + 24);
    expect(duration({ ...large, queuedJobs: 1 })).toBe(168);
    expect(duration({ ...large, keptPart: 1 })).toBe(48);
    expect(duration({ ...large, isWide: true, encodeMs: 40, answersMs: [10] })).toBe(40);
  });
});

describe('groups of questions', () => {
  it('are of like cost, the dearest first', () => {
    expect(groupQuestions([40, 1, 35, 30], 2)).toEqual([
      [2, 3],
      [0, 1],
    ]);
  });

  it('hold every question once, in order, and none is empty', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { minLength: 1 }), fc.integer({ min: 1, max: 8 }), (costs, wanted) => {
        const groups = groupQuestions(costs, Math.min(wanted, costs.length));
        expect(groups.flat().sort((a, b) => a - b)).toEqual(costs.map((_, place) => place));
        for (const places of groups) expect(places).toEqual([...places].sort((a, b) => a - b));
        expect(groups.every((places) => places.length > 0)).toBe(true);
      }),
    );
  });
});
