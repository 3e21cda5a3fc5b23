// Three servers behind nginx on one PostgreSQL, under load, as deploy/cluster sets them up: restarted one after the other,
// one killed, one stopped and let go on, one that cannot reach the database. Nobody is billed twice or for nothing.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareBooks } from '../money/books.ts';
import { ClientCrowd } from '../money/client-crowd.ts';
import { Cluster, findMissingTools } from '../money/cluster.ts';
import type { Answer } from '../money/exchange.ts';
import { type IssuedKey, issueKey } from '../money/issue-key.ts';
import { untilSettled } from '../money/until-settled.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { until } from '../waiting/until.ts';

const SERVERS = 3;
const CLIENTS = 9;
const ANSWERS = 90;
const BUDGET_PICO_USD = 10n ** 14n;

const missing = findMissingTools();
if (missing.length > 0) process.stderr.write(`Not here: ${missing.join(', ')}. The cluster is not tried.\n`);

const isServed = ({ status }: Answer): boolean => status === 200;

describe.skipIf(missing.length > 0)('three servers behind nginx', () => {
  let postgres: PostgresServer;
  let cluster: Cluster;
  let keys: readonly IssuedKey[];
  const crowds: ClientCrowd[] = [];

  beforeAll(async () => {
    postgres = await PostgresServer.start({ max_connections: '200' });
    cluster = await Cluster.start(postgres);
    keys = [await issueKey(cluster.address), await issueKey(cluster.address, { budgetPicoUsd: BUDGET_PICO_USD })];
  });

  afterAll(async () => {
    await cluster.dispose();
    await postgres.dispose();
  });

  /** @param act what happens while they ask; ended by as many answers as before it */
  async function underLoad(leavingShare: number, act: (crowd: ClientCrowd) => Promise<void>): Promise<ClientCrowd> {
    const crowd = new ClientCrowd({ clients: CLIENTS, keys, seed: 100 + crowds.length, leavingShare });
    crowds.push(crowd);
    const work = crowd.run(cluster.address);
    await crowd.until((answers) => answers.filter(isServed).length >= ANSWERS, 0);
    await act(crowd);
    await crowd.until((answers) => answers.filter(isServed).length >= ANSWERS);
    crowd.stop();
    await work;
    return crowd;
  }

  async function untilAlive(what: string, isSo: (servers: number) => boolean): Promise<void> {
    const isSoThere = async (): Promise<boolean> => {
      const [row] = await cluster.store.query('SELECT count(*) AS servers FROM instances');
      return isSo(Number(row?.['servers']));
    };
    await until(what, isSoThere, { withinMs: 300_000, pauseMs: 50 });
  }

  function tell(what: string, { answers, cut }: ClientCrowd): void {
    const refused = answers.filter((answer) => !isServed(answer));
    process.stdout.write(`${what}: ${answers.length} answers, ${refused.length} refused, ${cut.length} cut or left\n`);
  }

  it('are restarted one after the other, and no request is refused or cut', async () => {
    const before = readFileSync(cluster.list, 'utf8');
    const pids = [0, 1, 2].map((place) => cluster.member(place).server.pid);
    const crowd = await underLoad(0, async () => {
      const { code, printed } = await cluster.roll();
      expect(printed.match(/is back$/gm)).toHaveLength(SERVERS);
      expect(code).toBe(0);
    });
    tell('restarted one after the other', crowd);
    expect(crowd.answers.filter((answer) => !isServed(answer)).map(({ status, text }) => `${status} ${text}`)).toEqual(
      [],
    );
    expect([...crowd.cut.map(({ requestId }) => requestId), ...cluster.complaints]).toEqual([]);
    expect(cluster.exits).toEqual(pids.map(() => ({ code: 0, signal: null })));
    expect([0, 1, 2].filter((place) => cluster.member(place).server.pid === pids[place])).toEqual([]);
    expect(readFileSync(cluster.list, 'utf8')).toBe(before);
  });

  it('lose one that is killed, and only what it was doing', async () => {
    const crowd = await underLoad(0, async () => {
      cluster.member(1).server.kill('SIGKILL');
      await untilAlive('the dead one is taken for dead', (servers) => servers < SERVERS);
    });
    tell('one killed', crowd);
    expect(crowd.answers.filter((answer) => !isServed(answer))).toEqual([]);
    expect(crowd.cut.length).toBeLessThanOrEqual(CLIENTS);
    await cluster.revive(1);
  });

  it('do without one that hangs, and take it back when it goes on', async () => {
    const crowd = await underLoad(0.1, async () => {
      const { server } = cluster.member(2);
      server.kill('SIGSTOP');
      try {
        await untilAlive('the silent one is taken for dead', (servers) => servers < SERVERS);
      } finally {
        server.kill('SIGCONT');
      }
      await untilAlive('it is back', (servers) => servers === SERVERS);
    });
    tell('one stopped and let go on', crowd);
    expectRefusedByStore(crowd);
  });

  it('refuse what one cannot book that does not reach the database, and take it back when it does', async () => {
    const crowd = await underLoad(0.1, async () => {
      const { database } = cluster.member(0);
      database.stall();
      try {
        await untilAlive('the partitioned one is taken for dead', (servers) => servers < SERVERS);
      } finally {
        database.resume();
      }
      await untilAlive('it is back', (servers) => servers === SERVERS);
    });
    tell('one partitioned from the database', crowd);
    expectRefusedByStore(crowd);
  });

  /** Or because the hanging one still has the first request of that key. */
  function expectRefusedByStore({ answers }: ClientCrowd): void {
    const refused = answers.filter((answer) => !isServed(answer));
    const isExpected = ({ status, text, headers }: Answer): boolean =>
      (status === 503 && text.includes('"store_unavailable"') && Number(headers.get('retry-after')) > 0) ||
      (status === 409 && text.includes('"idempotency_key_in_use"'));
    expect(refused.filter((answer) => !isExpected(answer)).map(({ status, text }) => `${status} ${text}`)).toEqual([]);
  }

  it('billed each answer once, and nothing else', async () => {
    await untilSettled(cluster.store);
    const answers = crowds.flatMap((crowd) => crowd.answers);
    const { faults, rows, crashedRows } = await compareBooks(cluster.store, {
      answers,
      cut: crowds.flatMap(({ cut }) => cut),
    });
    process.stdout.write(`${answers.length} answers, ${rows} rows, ${crashedRows} of them crashed\n`);
    expect(faults).toEqual([]);
    expect(rows).toBeGreaterThan(SERVERS * ANSWERS);
  });
});
