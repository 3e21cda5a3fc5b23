import { describe, expect, it } from 'vitest';
import { CostModel, type WorkSize } from './cost-model.ts';

const size = (stateCharacters: number, questionCharacters: number): WorkSize => ({
  stateCharacters,
  questionCharacters,
});

describe('cost model', () => {
  it('knows before any measurement that longer is dearer', () => {
    const model = new CostModel(256);
    const costs = [size(100, 100), size(1000, 100), size(1000, 1000), size(30_000, 1000)].map((each) =>
      model.estimateMs(each),
    );
    expect(costs).toEqual([...costs].sort((a, b) => a - b));
  });

  it('counts a long state once, in windows, and again for every question token', () => {
    const model = new CostModel(256);
    const stateOnly = model.estimateMs(size(20_000, 0)) / model.estimateMs(size(10_000, 0));
    expect(stateOnly).toBeCloseTo(2, 1);
    const perQuestion = (state: number) => model.estimateMs(size(state, 2000)) - model.estimateMs(size(state, 0));
    expect(perQuestion(20_000)).toBeGreaterThan(1.8 * perQuestion(10_000));
  });

  it('takes the scale from its first measurement', () => {
    const model = new CostModel(256);
    model.observe({ ...size(1000, 200), inputTokens: 240, wallMs: 60 });
    expect(model.estimateMs(size(1000, 200))).toBeCloseTo(60, 6);
  });

  it('follows a host that gets slower', () => {
    const model = new CostModel(256);
    const work = { ...size(1000, 200), inputTokens: 240 };
    model.observe({ ...work, wallMs: 60 });
    for (let i = 0; i < 60; i++) model.observe({ ...work, wallMs: 120 });
    expect(model.estimateMs(work)).toBeGreaterThan(115);
  });

  it('is not led astray by a short task that met a hiccup', () => {
    const model = new CostModel(256);
    const work = { ...size(1000, 200), inputTokens: 240 };
    for (let i = 0; i < 20; i++) model.observe({ ...work, wallMs: 60 });
    model.observe({ ...size(10, 10), inputTokens: 4, wallMs: 60 });
    expect(model.estimateMs(work)).toBeLessThan(70);
  });

  it('learns how many tokens a text has', () => {
    const model = new CostModel(256);
    const before = model.estimateMs(size(4000, 0));
    model.observe({ ...size(1000, 0), inputTokens: 1000, wallMs: 71.2 });
    expect(model.estimateMs(size(4000, 0))).toBeGreaterThan(2 * before);
  });

  it('survives a call without any text', () => {
    const model = new CostModel(256);
    model.observe({ ...size(0, 0), inputTokens: 0, wallMs: 1 });
    expect(model.estimateMs(size(0, 0))).toBeGreaterThan(0);
  });
});
