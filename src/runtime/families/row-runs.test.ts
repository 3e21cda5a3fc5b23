import { expect, it } from 'vitest';
import { AppError } from '../../domain/errors.ts';
import { OutOfDeviceMemory } from '../device-faults.ts';
import { packByLength, runTogether } from './row-runs.ts';

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
