import { describe, expect, it } from 'vitest';
import { addWork, CostModel } from './cost-model.ts';

const times = (count: number, action: () => void): void => {
  for (let i = 0; i < count; i++) action();
};

describe('cost model', () => {
  it('goes by the formulas before anything was measured', () => {
    expect(new CostModel().estimateMs({ task: 1, encode: 20 })).toBe(21);
  });

  it('takes its scale from the cases of the load', () => {
    const model = new CostModel();
    model.calibrate([{ work: { encode: 20, answer: 5 }, wallMs: 50 }]);
    expect(Math.abs(model.estimateMs({ encode: 20, answer: 5 }) - 50)).toBeLessThan(1);
  });

  it('tells kinds apart by cases that mix them differently', () => {
    const model = new CostModel();
    model.calibrate([
      { work: { encode: 20, answer: 5 }, wallMs: 2 * 20 + 0.5 * 5 },
      { work: { encode: 5, answer: 40 }, wallMs: 2 * 5 + 0.5 * 40 },
      { work: { encode: 30, answer: 30 }, wallMs: 2 * 30 + 0.5 * 30 },
    ]);
    const [encodeMs, answerMs] = [model.estimateMs({ encode: 10 }), model.estimateMs({ answer: 10 })];
    expect(Math.abs(encodeMs - 20)).toBeLessThan(2);
    expect(Math.abs(answerMs - 5)).toBeLessThan(1);
  });

  it('follows a host that gets slower', () => {
    const model = new CostModel();
    const work = { encode: 30, answer: 10 };
    model.calibrate([{ work, wallMs: 40 }]);
    times(60, () => model.observe({ work, wallMs: 80 }));
    expect(model.estimateMs(work)).toBeGreaterThan(75);
  });

  it('is not led astray by one run that met something else', () => {
    const model = new CostModel();
    const work = { encode: 30 };
    times(20, () => model.observe({ work, wallMs: 30 }));
    model.observe({ work: { encode: 2 }, wallMs: 500 });
    expect(model.estimateMs(work)).toBeLessThan(33);
    model.observe({ work, wallMs: 3000 });
    expect(model.estimateMs(work)).toBeLessThan(40);
  });

  it('leaves alone the kinds that a task has not', () => {
    const model = new CostModel();
    times(50, () => model.observe({ work: { text: 10 }, wallMs: 100 }));
    expect(model.estimateMs({ encode: 10 })).toBe(10);
  });

  it('learns nothing from work that costs nothing', () => {
    const model = new CostModel();
    model.observe({ work: {}, wallMs: 5 });
    model.observe({ work: { encode: 0 }, wallMs: 5 });
    expect(model.estimateMs({ encode: 10 })).toBe(10);
  });

  it('adds works up by kind', () => {
    expect(addWork([{ task: 1 }, { task: 2, encode: 3 }, {}])).toEqual({ task: 3, encode: 3 });
  });
});
