import { describe, expect, it } from 'vitest';
import { temperaturesOf } from './laya-config.ts';

describe("temperatures of Laya's configuration", () => {
  it('are those of the number of options, else of the type: choice, score, noul', () => {
    const config = { temperature: [1.5, 2.5, 3.5], temperature_by_options: { 'choice:3-5': 1.25, 'score:6-10': 0.75 } };
    expect(temperaturesOf(config)).toEqual({
      choice: { '2': 1.5, '3-5': 1.25, '6-10': 1.5, '11+': 1.5 },
      noul: { '2': 3.5 },
      score: { '2': 2.5, '3-5': 2.5, '6-10': 0.75 },
    });
  });

  it("are confined to Laya's bounds, and 1 where there is no number", () => {
    const config = { temperature: [9, Number.NaN, 'warm'], temperature_by_options: { 'choice:11+': 0.1006 } };
    expect(temperaturesOf(config)).toEqual({
      choice: { '2': 5, '3-5': 5, '6-10': 5, '11+': 0.5 },
      noul: { '2': 1 },
      score: { '2': 1, '3-5': 1, '6-10': 1 },
    });
    expect(temperaturesOf({}).choice).toEqual({ '2': 1, '3-5': 1, '6-10': 1, '11+': 1 });
  });
});
