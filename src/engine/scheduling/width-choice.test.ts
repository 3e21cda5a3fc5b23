import { describe, expect, it } from 'vitest';
import { WidthChoice } from './width-choice.ts';

/** Parts one after the other. @param slowness of each width @returns which were wide */
function runParts(choice: WidthChoice, count: number, slowness: { readonly wide: number; readonly narrow: number }) {
  return Array.from({ length: count }, () => {
    const isWide = choice.chooseWide();
    choice.observe({ isWide, costMs: 20, wallMs: 20 * (isWide ? slowness.wide : slowness.narrow) });
    return isWide;
  });
}

const shareOf = (runs: readonly boolean[]) => runs.filter((isWide) => isWide).length / runs.length;
const QUICK = { wide: 0.65, narrow: 1 };
const CROWDED = { wide: 4, narrow: 1.5 };

describe('the width of parts that are alone', () => {
  it('is wide from the first part on, and stays so where that is quicker', () => {
    const runs = runParts(new WidthChoice(), 500, QUICK);
    expect(runs.slice(0, 5)).toEqual([true, true, true, true, true]);
    expect(shareOf(runs)).toBeGreaterThan(0.97);
  });

  it('is narrow after one part where wide ones are slower, and hardly ever tried again', () => {
    const runs = runParts(new WidthChoice(), 500, CROWDED);
    expect(runs.slice(0, 7)).toEqual([true, false, false, false, false, false, false]);
    expect(shareOf(runs)).toBeLessThan(0.03);
  });

  it('is narrow where wide ones bring too little', () => {
    expect(shareOf(runParts(new WidthChoice(), 500, { wide: 0.98, narrow: 1 }))).toBeLessThan(0.03);
  });

  it('compares with narrow runs as they are, not with their estimate', () => {
    expect(shareOf(runParts(new WidthChoice(), 500, { wide: 1.3, narrow: 2 }))).toBeGreaterThan(0.95);
    expect(shareOf(runParts(new WidthChoice(), 500, { wide: 0.6, narrow: 0.5 }))).toBeLessThan(0.1);
  });

  it('is worth more than sharing only where it is much quicker, and was seen to be', () => {
    const choice = new WidthChoice();
    expect(choice.beatsSharing).toBe(false);
    runParts(choice, 20, QUICK);
    expect(choice.beatsSharing).toBe(true);
    runParts(choice, 20, { wide: 0.85, narrow: 1 });
    expect(choice.beatsSharing).toBe(false);
  });

  it('follows the host: crowded, it turns within ten parts, and back within two hundred', () => {
    const choice = new WidthChoice();
    runParts(choice, 200, QUICK);
    expect(shareOf(runParts(choice, 10, CROWDED))).toBeLessThan(0.5);
    runParts(choice, 300, CROWDED);
    runParts(choice, 200, QUICK);
    expect(shareOf(runParts(choice, 200, QUICK))).toBeGreaterThan(0.95);
  });
});
