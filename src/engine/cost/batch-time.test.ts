import { expect, it } from 'vitest';
import { BatchTime } from './batch-time.ts';

const truth = (tokens: number): number => 3 + 0.001 * tokens;

it('finds what a batch takes at least, and what a token adds', () => {
  const time = new BatchTime();
  for (let round = 0; round < 40; round++) {
    for (const tokens of [100, 900, 4000, 16_000]) time.observe(tokens, truth(tokens));
  }
  expect(time.batchMs(0)).toBeCloseTo(3, 1);
  expect(time.batchMs(10_000)).toBeCloseTo(truth(10_000), 0);
});

it('lays the fixed part of a full batch to its tasks by their tokens', () => {
  const time = new BatchTime();
  for (let round = 0; round < 60; round++) for (const tokens of [500, 8000]) time.observe(tokens, truth(tokens));
  expect(8 * time.shareMs(1000, 8000)).toBeCloseTo(time.batchMs(8000), 6);
});

it('never has a batch take less the more is in it, whatever it saw', () => {
  const time = new BatchTime();
  for (let round = 0; round < 40; round++) {
    time.observe(100, 50);
    time.observe(8000, 5);
  }
  expect(time.batchMs(8000)).toBeGreaterThanOrEqual(time.batchMs(100));
  expect(time.batchMs(0)).toBeGreaterThanOrEqual(0);
});

it('follows a device that has become slower', () => {
  const time = new BatchTime();
  for (let round = 0; round < 50; round++) time.observe(1000 + round, truth(1000 + round));
  for (let round = 0; round < 60; round++) time.observe(1000 + 50 * round, 10 * truth(1000 + 50 * round));
  expect(time.batchMs(2000)).toBeGreaterThan(6 * truth(2000));
});
