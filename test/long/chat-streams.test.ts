// 10,000 chat streams against an upstream in a process of its own, a third of them cut by their clients at random points:
// one row each, the policy's cost each, no reservation and no upstream connection left behind.

import { expect, it } from 'vitest';
import { describeRun, expectRightBills } from '../streams/expect-right-bills.ts';
import { runStreams } from '../streams/stream-run.ts';

it('keeps the bills of 10,000 streams right', async () => {
  const run = await runStreams({ streams: 10_000, clients: 64, seed: 20_261_121 });
  process.stdout.write(describeRun(run));
  expectRightBills(run);
  expect.hasAssertions();
});
