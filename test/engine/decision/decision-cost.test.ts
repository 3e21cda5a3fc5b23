// Estimates of decisions on a machine of another kind than the formulas were measured on: after its golden cases, and
// after it has worked for a while.

import { describe, expect, it } from 'vitest';
import { DecisionCost } from '../../../src/engine/decision/decision-cost.ts';
import type { TimedCase } from '../../../src/runtime/load-report.ts';
import type { DecideReply } from '../../../src/runtime/messages.ts';
import { RandomSource } from '../../models/random-source.ts';

const WINDOW_TOKENS = 256;

interface Shape {
  readonly stateTokens: number;
  readonly questions: readonly { readonly tokens: number; readonly options: number }[];
}

/** Twice as slow in runs, four times in attention to keys, with noise of a tenth. */
function machineMs({ stateTokens, questions }: Shape, random: RandomSource): number {
  const run = (tokens: number) => tokens * (0.18 + 0.0003 * tokens);
  const full = Math.floor(stateTokens / WINDOW_TOKENS);
  const encodeMs = full * run(WINDOW_TOKENS) + run(stateTokens % WINDOW_TOKENS);
  const answersMs = questions.map(({ tokens, options }) => {
    return 1 + (tokens + options + 2) * (0.2 + 0.0008 * stateTokens);
  });
  return (0.6 + encodeMs + answersMs.reduce((a, b) => a + b, 0)) * (0.9 + 0.2 * random.next());
}

function randomShape(random: RandomSource): Shape {
  const questions = Array.from({ length: random.scaled(1, 8) }, () => {
    return { tokens: random.scaled(8, 120), options: random.whole(2, 5) };
  });
  return { stateTokens: random.scaled(16, 4000), questions };
}

/** Share of shapes whose estimate is within a fifth of the machine's time without noise. */
function shareWithinFifth(cost: DecisionCost, random: RandomSource): number {
  const quiet = { next: () => 0.5 } as RandomSource;
  const shapes = Array.from({ length: 300 }, () => randomShape(random));
  const hits = shapes.filter((shape) => {
    const questions = shape.questions.map((question) => ({ ...question, letters: question.tokens * 4 }));
    const estimateMs = cost.wholeMs({ ...shape, stateLetters: 4 * shape.stateTokens, questions }, 0);
    return Math.abs(estimateMs / machineMs(shape, quiet) - 1) <= 0.2;
  });
  return hits.length / shapes.length;
}

function calibrated(random: RandomSource): DecisionCost {
  const cost = new DecisionCost(WINDOW_TOKENS);
  const stateTokens = [650, 18, 20, 17, 15, 2, 25];
  const cases = stateTokens.map((tokens, place): TimedCase => {
    const questions = Array.from({ length: 1 + (place % 4) }, () => ({ tokens: place === 1 ? 500 : 30, options: 3 }));
    const wallMs = machineMs({ stateTokens: tokens, questions }, random);
    return { characters: 4 * tokens, tokens, questions, wallMs };
  });
  cost.calibrate(cases);
  return cost;
}

describe('estimates of decisions', () => {
  it('are of the right size after the golden cases alone', () => {
    const random = new RandomSource(1);
    const cost = calibrated(random);
    const shape = { stateTokens: 500, questions: [{ tokens: 40, options: 4, letters: 160 }] };
    const ratio = cost.wholeMs({ ...shape, stateLetters: 2000 }, 0) / machineMs(shape, random);
    expect(ratio).toBeGreaterThan(0.6);
    expect(ratio).toBeLessThan(1.6);
  });

  it('are within a fifth for mixed work once some of it has been measured', () => {
    const random = new RandomSource(2);
    const cost = calibrated(random);
    for (let i = 0; i < 200; i++) {
      const { stateTokens, questions } = randomShape(random);
      const content = stateTokens - 2 * Math.ceil(stateTokens / WINDOW_TOKENS);
      const inputTokens = content + questions.reduce((sum, { tokens }) => sum + tokens, 0);
      const reply: DecideReply = {
        probabilities: [],
        inputTokens,
        stateTokens,
        keptTokens: 0,
        isKept: false,
        tokenizeMs: 0,
        inferMs: 0,
      };
      const sized = questions.map((question) => ({ ...question, letters: question.tokens * 4 }));
      const wallMs = machineMs({ stateTokens, questions }, random);
      const size = { stateLetters: 4 * content, stateTokens, questions: sized };
      cost.observeWhole(size, { reply, wallMs });
    }
    expect(shareWithinFifth(cost, random)).toBeGreaterThan(0.9);
  });

  it('leave out what is kept', () => {
    const cost = calibrated(new RandomSource(3));
    const size = { stateLetters: 8000, stateTokens: 2000, questions: [{ tokens: 40, options: 4, letters: 160 }] };
    const [answerMs] = cost.answersMs(size);
    expect(cost.wholeMs(size, 2000)).toBeCloseTo((answerMs ?? 0) + cost.taskMs(), 6);
    expect(cost.wholeMs(size, 2000)).toBeLessThan(cost.wholeMs(size, 0) / 3);
  });
});
