// 64 clients against a budget that pays for exactly 1,000 decisions, on one server with SQLite and on three that share
// one PostgreSQL. `npm test` has the short form.

import { afterAll, beforeAll, describe, it } from 'vitest';
import { formatUsd } from '../../src/domain/money.ts';
import { spendBudget } from '../money/budget-run.ts';
import { expectExactBudget } from '../money/expect-exact-budget.ts';
import { type MoneyStore, PostgresMoneyStore, SqliteMoneyStore } from '../money/money-store.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';

const EXPECTED = { decisions: 1000, clients: 64 };

let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await PostgresServer.start();
});

afterAll(() => postgres.dispose());

const FLEETS: readonly (readonly [string, number, () => Promise<MoneyStore>])[] = [
  ['SQLite', 1, async () => new SqliteMoneyStore()],
  ['PostgreSQL', 3, () => PostgresMoneyStore.create(postgres)],
];

describe('a budget for exactly 1,000 decisions, and 64 clients', () => {
  it.each(FLEETS)('%s, servers: %i', async (name, servers, open) => {
    const store = await open();
    try {
      const run = await spendBudget({ store, servers, ...EXPECTED });
      const told = `${run.served.length} served, ${run.refused.length} refused, ${run.others.length} others`;
      const money = `spent $${formatUsd(run.account.spent)} of $${formatUsd(run.budgetPicoUsd)}`;
      process.stdout.write(`${name}, ${servers} servers: ${told}, ${money}, ${Math.round(run.elapsedMs)} ms\n`);
      expectExactBudget(run, EXPECTED);
    } finally {
      await store.dispose();
    }
  });
});
