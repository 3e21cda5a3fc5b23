// Streams of which a third are cut by their clients: one row each, with the cost that the policy says, and nothing left
// behind. test/long/chat-streams has the long form.

import { expect, it } from 'vitest';
import { expectRightBills } from './expect-right-bills.ts';
import { runStreams } from './stream-run.ts';

it('keeps the bills of 300 streams right', async () => {
  expectRightBills(await runStreams({ streams: 300, clients: 32, seed: 4 }));
  expect.hasAssertions();
});
