// PostgreSQL cut off 50 times at every statement of a request, before it arrives and with its reply lost, with and without
// an Idempotency-Key. `npm test` has the short form.

import { afterAll, beforeAll, it } from 'vitest';
import { cutEverywhere } from '../money/cut-run.ts';
import { expectToldIsBilled } from '../money/expect-told-is-billed.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';

const ROUNDS = 50;

let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await PostgresServer.start();
});

afterAll(() => postgres.dispose());

it(`bills what it told, ${ROUNDS} times at every statement`, async () => {
  const run = await cutEverywhere({ postgres, rounds: ROUNDS, seed: 50 });
  for (const [what, times] of Object.entries(run.cuts)) process.stdout.write(`${String(times).padStart(6)} ${what}\n`);
  const cuts = Object.values(run.cuts).reduce((sum, times) => sum + times, 0);
  const refused = run.answers.filter(({ status }) => status !== 200).length;
  const { faults, rows } = run.books;
  process.stdout.write(
    `${cuts} cuts, ${run.answers.length} answers (${refused} of them 503), ${rows} rows, ${faults.length} differences\n`,
  );
  expectToldIsBilled(run);
});
