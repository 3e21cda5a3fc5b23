// 100,000 mixed requests, bad ones and clients who leave among them: every reply is right for its request, memory is steady, and
// the books are without a fault. SOAK_REQUESTS says how many. Needs Linux for the memory.

import { expect, it } from 'vitest';
import { fitPolynomial } from '../../bench/parts/fits.ts';
import { type MemorySample, soak } from '../load/soak-run.ts';

const REQUESTS = Number(process.env['SOAK_REQUESTS'] ?? 100_000);
/** What the line through the second half of the samples may rise from its beginning to its end. */
const MAX_GROWTH_BYTES = 24e6;

/** Of the least-squares line over the second half of the requests. */
function growthBytes(samples: readonly MemorySample[], of: 'residentBytes' | 'distinctBytes'): number {
  const half = samples.slice(Math.floor(samples.length / 2));
  const { coefficients } = fitPolynomial(
    half.map((sample) => ({ x: sample.requests, y: sample[of] })),
    1,
  );
  return (coefficients[1] ?? Number.NaN) * ((half.at(-1)?.requests ?? 0) - (half[0]?.requests ?? 0));
}

it.runIf(process.platform === 'linux')(`stays as it is over ${REQUESTS} requests`, async () => {
  const run = await soak(REQUESTS);
  const [resident, distinct] = [growthBytes(run.memory, 'residentBytes'), growthBytes(run.memory, 'distinctBytes')];
  const megabytes = (bytes: number | undefined): string => `${((bytes ?? Number.NaN) / 1e6).toFixed(1)} MB`;
  process.stdout.write(
    `${run.requests} requests in ${(run.elapsedMs / 1000).toFixed(0)} s, ${run.left} left, ${JSON.stringify(run.byStatus)}; ` +
      `resident ${megabytes(run.memory[0]?.residentBytes)} to ${megabytes(run.memory.at(-1)?.residentBytes)}; ` +
      `over the second half resident ${megabytes(resident)}, distinct ${megabytes(distinct)} more\n`,
  );
  expect(run.failures).toEqual([]);
  expect(run.left).toBeGreaterThan(0);
  expect(run.exit).toEqual({ code: 0, signal: null });
  expect(run.check).toMatchObject({ code: 0, text: expect.stringContaining('No fault found.') });
  expect(resident).toBeLessThanOrEqual(MAX_GROWTH_BYTES);
  expect(distinct).toBeLessThanOrEqual(MAX_GROWTH_BYTES);
});
