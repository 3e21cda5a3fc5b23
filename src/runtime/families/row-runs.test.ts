import { expect, it } from 'vitest';
import { AppError } from '../../domain/errors.ts';
import { OutOfDeviceMemory } from '../device-faults.ts';
import type { GraphSession } from '../session.ts';
import { packByLength, runPacked, runSoundly, runTogether } from './row-runs.ts';

const own = (row: number): number => row;
const rows = Array.from({ length: 9 }, (_, place) => place);

it('puts rows of like length together, and pads to no more than a run takes', () => {
  const lengths = Array.from({ length: 200 }, (_, place) => 1 + ((place * 37) % 250));
  const runs = packByLength(lengths, own, 2000);
  expect(runs.flat().sort((a, b) => a - b)).toEqual(lengths.toSorted((a, b) => a - b));
  for (const run of runs) expect(run.length * Math.max(...run)).toBeLessThanOrEqual(2000);
  const padded = runs.reduce((all, run) => all + run.length * Math.max(...run), 0);
  expect(padded).toBeLessThan(1.2 * lengths.reduce((all, length) => all + length, 0));
});

it('runs a row by itself that is longer than a run may be', () => {
  expect(packByLength([5000, 10], own, 2000)).toEqual([[5000], [10]]);
});

it('splits once where the device has no memory for all rows', async () => {
  const asked: number[] = [];
  const found = await runTogether(rows, async (some) => {
    asked.push(some.length);
    if (some.length > 5) throw new OutOfDeviceMemory(new Error('CUDA failure 2: out of memory'));
    return some.map((row) => row * 10);
  });
  expect(asked).toEqual([9, 5, 4]);
  expect(found).toEqual(rows.map((row) => row * 10));
});

it('refuses the rows of a half that still has no room, and answers the others', async () => {
  let runs = 0;
  const found = await runTogether(rows, async (some) => {
    runs += 1;
    if (some.includes(8)) throw new OutOfDeviceMemory(new Error('Failed to allocate memory for requested buffer'));
    return some;
  });
  expect(runs).toBe(3);
  expect(found.slice(0, 5)).toEqual([0, 1, 2, 3, 4]);
  for (const refused of found.slice(5)) {
    expect(refused).toBeInstanceOf(AppError);
    expect(refused).toMatchObject({ code: 'overloaded', retryAfterMs: 1000 });
  }
});

it('does not run again what failed for another reason', async () => {
  let runs = 0;
  const lost = runTogether(rows, async () => {
    runs += 1;
    throw new Error('CUDA failure 719: unspecified launch failure');
  });
  await expect(lost).rejects.toThrow('719');
  expect(runs).toBe(1);
});

it('gives each row of several runs what was found of it, or why there was no room', async () => {
  const all = [5, 1, 4, 2, 3].map((size) => ({ size }));
  const run = async (some: readonly { size: number }[]) => {
    if (some.some(({ size }) => size === 5)) throw new OutOfDeviceMemory(new Error('CUDA failure 2: out of memory'));
    return some.map(({ size }) => size * 10);
  };
  const found = await runPacked(all, { sizeOf: ({ size }) => size, mostTokens: 4, run });
  const [first = { size: 0 }, ...others] = all;
  expect(others.map((row) => found.take(row))).toEqual([10, 40, 20, 30]);
  expect(() => found.take(first)).toThrow(OutOfDeviceMemory);
  expect(() => found.take({ size: 9 })).toThrow('left out');
});

const [half, full] = ['half', 'full'].map(
  (name): GraphSession => ({
    outputs: [name],
    run: async () => ({}),
    runInto: async () => undefined,
    close: async () => undefined,
  }),
) as [GraphSession, GraphSession];

/** What overflows in half precision; all else is ten times the row. */
function soundRuns(overflowing: readonly number[], precise: GraphSession | undefined) {
  const ran: (readonly [string | undefined, readonly number[]])[] = [];
  const run = async (session: GraphSession, some: readonly number[]) => {
    ran.push([session.outputs[0], some]);
    return some.map((row) => (session === half && overflowing.includes(row) ? Number.NaN : 10 * row));
  };
  return { ran, runs: { session: half, precise: async () => precise, run, isSound: Number.isFinite } };
}

it('runs what overflows in half precision again in full, each row by itself', async () => {
  const { ran, runs } = soundRuns([2, 4], full);
  expect(await runSoundly([1, 2, 3, 4], runs)).toEqual([10, 20, 30, 40]);
  expect(ran).toEqual([
    ['half', [1, 2, 3, 4]],
    ['full', [2]],
    ['full', [4]],
  ]);
});

it('leaves what overflows as it is where there is no other graph', async () => {
  const { ran, runs } = soundRuns([2], undefined);
  expect(await runSoundly([1, 2], runs)).toEqual([10, Number.NaN]);
  expect(ran).toHaveLength(1);
});

it('refuses a graph that gives fewer rows than it was asked for', async () => {
  const { runs } = soundRuns([], full);
  await expect(runSoundly([1, 2], { ...runs, run: async () => [10] })).rejects.toThrow('gave 1 rows where 2 were due');
});
