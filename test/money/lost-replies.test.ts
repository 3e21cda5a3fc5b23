// A database that carries out what it is told and whose reply is lost: nobody can know what became of it before it is
// back. What clients were told is what is billed.

import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { cutEverywhere } from './cut-run.ts';
import { expectToldIsBilled } from './expect-told-is-billed.ts';

// Whole servers do real work here, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 600_000 });

let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await PostgresServer.start();
});

afterAll(() => postgres.dispose());

it('what clients were told is what is billed, wherever PostgreSQL is cut off', async () => {
  const run = await cutEverywhere({ postgres, rounds: 1, seed: 13 });
  expectToldIsBilled(run);
  const { cuts } = run;
  for (const way of ['new', 'early', 'idempotent']) expect(cuts[`${way}: after commit`]).toBeGreaterThan(0);
});
