// Twenty kills in the middle of load on each database. `npm test` has the short form.

import { afterAll, beforeAll, describe, it } from 'vitest';
import { describeRound, killAgainAndAgain } from '../money/crash-run.ts';
import { expectRightMoney } from '../money/expect-right-money.ts';
import { type MoneyStore, PostgresMoneyStore, SqliteMoneyStore } from '../money/money-store.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';

const KILLS = 20;
const CLIENTS = 24;

let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await PostgresServer.start();
});

afterAll(() => postgres.dispose());

const STORES: readonly (readonly [string, () => Promise<MoneyStore>])[] = [
  ['SQLite', async () => new SqliteMoneyStore()],
  ['PostgreSQL', () => PostgresMoneyStore.create(postgres)],
];

describe(`${KILLS} kills in the middle of load`, () => {
  it.each(STORES)('leave every answered request with its row and nothing else paid: %s', async (name, open) => {
    const store = await open();
    try {
      for await (const round of killAgainAndAgain({ store, kills: KILLS, clients: CLIENTS, seed: 20_261_121 })) {
        process.stdout.write(`${name} ${describeRound(round)}\n`);
        expectRightMoney(round);
      }
    } finally {
      await store.dispose();
    }
  });
});
