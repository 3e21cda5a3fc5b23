import { expect, it } from 'vitest';
import { estimateShare, openBatches, untilBatchMs } from './batching.ts';

const LIMITS = { tokens: 1000, waitMs: 2, inFlight: 2 };

it('has an idle device wait for nobody', () => {
  expect(untilBatchMs({ tokens: 1, waitedMs: 0 }, 0, LIMITS)).toBe(0);
});

it('waits for company while the device has work, as long as was said', () => {
  expect(untilBatchMs({ tokens: 1, waitedMs: 0 }, 1, LIMITS)).toBe(2);
  expect(untilBatchMs({ tokens: 1, waitedMs: 1.5 }, 1, LIMITS)).toBe(0.5);
  expect(untilBatchMs({ tokens: 1, waitedMs: 7 }, 1, LIMITS)).toBe(0);
});

it('begins a full batch at once, for a worker that prepares it', () => {
  expect(untilBatchMs({ tokens: 1000, waitedMs: 0 }, 1, LIMITS)).toBe(0);
  expect(untilBatchMs({ tokens: 1000, waitedMs: 0 }, 2, LIMITS)).toBe(0);
  expect(untilBatchMs({ tokens: 1000, waitedMs: 0 }, 3, LIMITS)).toBe(Infinity);
});

it('gathers until a batch ends where the device has all it takes', () => {
  expect(untilBatchMs({ tokens: 999, waitedMs: 60 }, 2, LIMITS)).toBe(Infinity);
});

it('shares runs only where both the workers and the operator say so', () => {
  expect(openBatches('m', undefined, LIMITS)).toBeUndefined();
  expect(openBatches('m', [], undefined)).toBeUndefined();
  expect(openBatches('m', [], LIMITS)?.modelId).toBe('m');
});

it('estimates a part by its share of a full batch, and its answer by a whole one', () => {
  const model = openBatches(
    'm',
    Array.from({ length: 60 }, (_, i) => ({ tokens: 100 + i * 30, wallMs: 5 + (100 + i * 30) / 100 })),
    LIMITS,
  );
  if (model === undefined) throw new Error('no batches');
  const { costMs, durationMs } = estimateShare({ model, tokens: 100 });
  expect(durationMs).toBeCloseTo(15, 0);
  expect(costMs).toBeCloseTo(1.5, 1);
});
