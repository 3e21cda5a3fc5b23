// A quarter of an hour of the fuzzer: no crash, no stall over 100 ms that is the server's own, no 5xx that is not in the
// catalogue, no difference in the books. `npm run fuzz` is the same with a seed of one's own.

import { expect, it } from 'vitest';
import { CASE_KINDS } from '../fuzz/cases.ts';
import { STORE_NAMES } from '../fuzz/faulty-store.ts';
import { runFuzz } from '../fuzz/fuzz-run.ts';

const SECONDS = 450;

it.each(STORE_NAMES)('%s: nothing is found', async (store) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  process.stdout.write(`fuzz: ${store}, seed ${seed}\n`);
  const { faults } = await runFuzz({ seed, store, seconds: SECONDS, kinds: CASE_KINDS, cases: [], stallLimitMs: 100 });
  expect(faults).toEqual([]);
});
