// A server killed in the middle of its work: every answered request has its row, nothing else is paid. test/long/crash
// has the long form, over both databases.

import { expect, it, vi } from 'vitest';
import { killAgainAndAgain } from './crash-run.ts';
import { expectRightMoney } from './expect-right-money.ts';
import { SqliteMoneyStore } from './money-store.ts';

// Whole servers do real work here, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 600_000 });

it('keeps the money right over two kills (SQLite)', async () => {
  const store = new SqliteMoneyStore();
  try {
    for await (const round of killAgainAndAgain({ store, kills: 2, clients: 16, seed: 4 })) expectRightMoney(round);
  } finally {
    await store.dispose();
  }
  expect.hasAssertions();
});
