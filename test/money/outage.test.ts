// A store that cannot be reached, or cannot write: requests are refused, nothing is served unbilled (unless the
// configuration allows it), and everything goes on by itself when the store is back.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PostgresServer } from '../postgres/postgres-server.ts';
import type { ServerProcess } from '../process/server-process.ts';
import type { Answer } from './exchange.ts';
import { expectClosed } from './expect-closed.ts';
import { PostgresMoneyStore, SqliteMoneyStore } from './money-store.ts';
import { failAndRepair, isServed } from './outage-run.ts';

// Whole servers do real work here, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 600_000 });

const isRefused = ({ status }: Answer): boolean => status === 503;

describe('PostgreSQL', () => {
  let postgres: PostgresServer;

  beforeAll(async () => {
    postgres = await PostgresServer.start();
  });

  afterAll(() => postgres.dispose());

  it.each(['stop', 'crash'] as const)('gone (%s) and back', async (way) => {
    const store = await PostgresMoneyStore.create(postgres);
    const repair = (): Promise<void> => postgres.restart();
    const outage = await failAndRepair({ store, fail: () => postgres[way](), repair, isAffected: isRefused });
    expectClosed(outage);
  });

  it('there, but hanging, and going on with what it had not answered', async () => {
    const store = await PostgresMoneyStore.create(postgres);
    const settings = { UMPIRE_DATABASE_STATEMENT_TIMEOUT_MS: '700', UMPIRE_LEDGER_SETTLE_TIMEOUT_MS: '1000' };
    const hanging: number[] = [];
    // New connections would go on: they find a table that somebody holds, and the others do not even find an end.
    const holder = await postgres.connect(store.settings.UMPIRE_DATABASE_URL);
    onTestFinished(() => holder.end());
    const fail = async (): Promise<void> => {
      await holder.query('BEGIN; LOCK TABLE accounts IN EXCLUSIVE MODE');
      const servers = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'umpire'`;
      hanging.push(...(await store.query(servers)).map(({ pid }) => Number(pid)));
      for (const pid of hanging) process.kill(pid, 'SIGSTOP');
    };
    const repair = async (): Promise<void> => {
      for (const pid of hanging.splice(0)) process.kill(pid, 'SIGCONT');
      await holder.query('ROLLBACK');
    };
    // A PostgreSQL that hangs could not be stopped by the tests after this one.
    onTestFinished(repair);
    expectClosed(await failAndRepair({ store, settings, fail, repair, isAffected: isRefused }));
  });

  it('gone, and the configuration lets known keys work', async () => {
    const store = await PostgresMoneyStore.create(postgres);
    const settings = { UMPIRE_LEDGER_WHEN_STORE_FAILS: 'serve' };
    const isAffected = (answer: Answer): boolean => !answer.isReplay && answer.status === 200 && !isServed(answer);
    const { during, books, metrics } = await failAndRepair({
      store,
      settings,
      fail: () => postgres.stop(),
      repair: () => postgres.restart(),
      isAffected,
    });
    expect(during.filter(({ status }) => status !== 200)).toEqual([]);
    // Known to the metrics alone. A retry of such a request is another one.
    const unbilled = books.faults.filter((fault) => fault.endsWith('has no row'));
    expect(books.faults.filter((fault) => !/has no row|nobody paid/.test(fault))).toEqual([]);
    expect(Number(/^umpire_unbilled_requests_total (\d+)$/m.exec(metrics)?.[1])).toBe(unbilled.length);
  });
});

const run = promisify(execFile);

/** Every write to a file fails from now on, as on a full disk; what is written stays readable. */
async function limitFiles({ pid }: ServerProcess, bytes: string): Promise<void> {
  await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
}

describe.runIf(process.platform === 'linux')('SQLite', () => {
  it('that cannot write any more, and can again', async () => {
    const store = new SqliteMoneyStore();
    const fail = (server: ServerProcess): Promise<void> => limitFiles(server, '0');
    const repair = (server: ServerProcess): Promise<void> => limitFiles(server, 'unlimited');
    try {
      expectClosed(await failAndRepair({ store, fail, repair, isAffected: isRefused }));
    } finally {
      await store.dispose();
    }
  });
});
