// A budget is hard under concurrency: the short form. test/long/budget has the long one, on replicas too.

import { expect, it, vi } from 'vitest';
import { spendBudget } from './budget-run.ts';
import { expectExactBudget } from './expect-exact-budget.ts';
import { SqliteMoneyStore } from './money-store.ts';

// Whole servers do real work here, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 600_000 });

const EXPECTED = { decisions: 200, clients: 64 };

it('pays for exactly as many decisions as it is worth, whoever asks at once (SQLite)', async () => {
  const store = new SqliteMoneyStore();
  try {
    expectExactBudget(await spendBudget({ store, servers: 1, ...EXPECTED }), EXPECTED);
  } finally {
    await store.dispose();
  }
  expect.hasAssertions();
});
