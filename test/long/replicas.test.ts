// Replicas lost under load, over and over: killed, or silent for long and back. `npm test` has the short form.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectNothingLost } from '../money/expect-nothing-lost.ts';
import { PostgresMoneyStore } from '../money/money-store.ts';
import { describeLoss, type Loss, loseReplicas } from '../money/replica-loss.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';

const ROUNDS = 12;

let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await PostgresServer.start();
});

afterAll(() => postgres.dispose());

it(`keeps the money right when ${ROUNDS} times one of three replicas is lost`, async () => {
  const store = await PostgresMoneyStore.create(postgres);
  const losses = Array.from({ length: ROUNDS }, (_, round): Loss => (round % 2 === 0 ? 'killed' : 'silent'));
  for await (const round of loseReplicas({ store, losses, clientsPerReplica: 8, seed: 7 })) {
    process.stdout.write(`${describeLoss(round)}\n`);
    expectNothingLost(round);
  }
  expect.hasAssertions();
});
