import { expect, it } from 'vitest';
import { type DecisionRow, packDecisionRows, windowsOf } from './decision-rows.ts';
import { nameWindow } from './windows.ts';

const LIMITS = { tokens: 2000, isExact: false };

/** A question of so many tokens about a document of windows of so many. */
function row(document: number, windows: readonly number[], tokens: number): DecisionRow {
  const numbers = Array.from({ length: tokens }, (_, place) => place);
  return {
    chunk: { tokenIds: numbers, positions: numbers, branch: numbers, options: [0], lengths: [1] },
    windows: windows.map((length, index) =>
      nameWindow({ ids: new Int32Array(length).fill(document), segment: 0, index }, 'kev'),
    ),
    stateWindows: windows.length,
  };
}

const rows = Array.from({ length: 120 }, (_, place) => {
  const windows = place % 10 === 0 ? [256, 256, 30 + place] : [20 + ((place * 29) % 230)];
  return row(Math.floor(place / 2), windows, 10 + (place % 40));
});

it('reads a window once, however many ask about it', () => {
  const same = [row(1, [50], 10), row(1, [50], 12), row(2, [50], 10)];
  const [run = [], ...more] = packDecisionRows(same, LIMITS);
  expect(more).toEqual([]);
  expect(windowsOf(run)).toHaveLength(2);
});

it('has every row in one run, and in none more than it takes', () => {
  const runs = packDecisionRows(rows, LIMITS);
  expect(new Set(runs.flat()).size).toBe(rows.length);
  expect(runs.flat()).toHaveLength(rows.length);
  for (const run of runs) {
    const windows = windowsOf(run);
    const longest = Math.max(...windows.map(({ tokens }) => tokens));
    const widest = Math.max(...run.map(({ chunk }) => chunk.tokenIds.length));
    const most = Math.max(...run.map((each) => each.windows.length));
    expect(windows.length * longest + run.length * widest).toBeLessThanOrEqual(2000);
    expect(run.length * most * longest).toBeLessThanOrEqual(8 * 2000);
  }
  expect(runs.length).toBeLessThan(rows.length / 3);
});

it('runs a document by itself that is longer than a run may be', () => {
  const long = row(
    7,
    Array.from({ length: 33 }, () => 256),
    20,
  );
  expect(packDecisionRows([long, row(8, [30], 10)], LIMITS)).toHaveLength(2);
});

it('gives each row a run of its own where answers must be exact', () => {
  expect(packDecisionRows(rows, { ...LIMITS, isExact: true })).toHaveLength(rows.length);
});
