// The command line beside a running server, on both stores: keys, prices, rows and the trail as an operator sees them.

import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testLogs } from '../log-scan/test-logs.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { runUmpire } from '../process/run-umpire.ts';
import { until } from '../waiting/until.ts';
import { exchange } from './exchange.ts';
import { Fleet } from './fleet.ts';
import { type MoneyStore, PostgresMoneyStore, SqliteMoneyStore } from './money-store.ts';
import { DECISION_MODEL } from './priced-models.ts';

/** What a change of another process may take to be seen. */

/** A store with a server on it, and the commands of an operator beside it. */
class CommandLine {
  readonly #store: MoneyStore;
  readonly #fleet: Fleet;
  readonly #address: string;
  readonly #disposeStore: () => Promise<void>;
  #requests = 0;

  private constructor(store: MoneyStore, fleet: Fleet, address: string, disposeStore: () => Promise<void>) {
    this.#store = store;
    this.#fleet = fleet;
    this.#address = address;
    this.#disposeStore = disposeStore;
  }

  static async over(store: MoneyStore, disposeStore: () => Promise<void>): Promise<CommandLine> {
    const fleet = await Fleet.over(store);
    const [address = ''] = await fleet.launchMany(1);
    return new CommandLine(store, fleet, address, disposeStore);
  }

  async dispose(): Promise<void> {
    await this.#fleet.dispose();
    await this.#disposeStore();
  }

  async run(...args: string[]) {
    return await runUmpire(args, { cwd: tmpdir(), env: this.#store.settings });
  }

  async json(...args: string[]) {
    const { code, out, error } = await this.run(...args, '--json');
    expect({ code, error }).toEqual({ code: 0, error: '' });
    return JSON.parse(out);
  }

  async createKey(...args: string[]): Promise<{ readonly id: string; readonly secret: string }> {
    const { id, key } = await this.json('keys', 'create', '--name', 'a shop', ...args);
    testLogs.keepSecret(key);
    return { id, secret: key };
  }

  async decide(keyId: string, secret: string) {
    const order = { requestId: `line-${++this.#requests}`, kind: 'decision' as const, words: 3, keyId, secret };
    const answer = await exchange(this.#address, order);
    return {
      requestId: order.requestId,
      status: answer?.status,
      costUsd: answer?.headers.get('x-umpire-cost-usd'),
    };
  }
}

async function onSqlite(): Promise<CommandLine> {
  const store = new SqliteMoneyStore();
  return await CommandLine.over(store, () => store.dispose());
}

async function onPostgres(): Promise<CommandLine> {
  const server = await PostgresServer.start();
  return await CommandLine.over(await PostgresMoneyStore.create(server), () => server.dispose());
}

describe.each([
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
])('the command line beside a server on %s', (_name, open) => {
  let line: CommandLine;

  beforeAll(async () => {
    line = await open();
  });

  afterAll(() => line.dispose());

  it('says what a request cost and what is left, exactly as the reply did', async () => {
    const key = await line.createKey('--model', `${DECISION_MODEL.slice(0, 3)}*`, '--budget', '1.5', '--reset', 'day');
    const { requestId, status, costUsd } = await line.decide(key.id, key.secret);
    expect(status).toBe(200);
    expect(costUsd).toMatch(/^0\.0\d*[1-9]$/);
    expect(await line.json('requests', '--key', key.id)).toMatchObject([
      { request_id: requestId, key: key.id, model: DECISION_MODEL, end: 'completed', status: 200, cost_usd: costUsd },
    ]);
    expect(await line.json('usage', '--by', 'key,model', '--key', key.id)).toMatchObject([
      { key: key.id, key_name: 'a shop', model: DECISION_MODEL, requests: 1, cost_usd: costUsd },
    ]);
    const { budget, last_used_at } = await line.json('keys', 'show', key.id);
    expect(budget).toMatchObject({ amount_usd: '1.5', reset: 'day', spent_usd: costUsd, reserved_usd: '0' });
    expect(last_used_at).toMatch(/^\d{4}-/);
    expect((await line.run('usage', '--by', 'day', '--key', key.id)).out).toMatch(
      /^\d{4}-\d\d-\d\d +1 +\d+ +0 +0 +0 +0\.0/m,
    );
    expect((await line.run('requests', '--key', key.id, '--csv')).out.split('\r\n')).toHaveLength(3);
  });
});

describe('the command line beside a server', () => {
  let line: CommandLine;

  beforeAll(async () => {
    line = await onSqlite();
  });

  afterAll(() => line.dispose());

  it('changes keys of a running server', async () => {
    const key = await line.createKey();
    const statusOf = async (secret: string) => (await line.decide(key.id, secret)).status;
    const rotated = await line.json('keys', 'rotate', key.id, '--overlap', '1h');
    testLogs.keepSecret(rotated.key);
    expect(await statusOf(rotated.key)).toBe(200);
    expect(await statusOf(key.secret)).toBe(200);
    const last = await line.json('keys', 'rotate', key.id, '--overlap', '0m');
    testLogs.keepSecret(last.key);
    for (const older of [key.secret, rotated.key])
      await until('the server answers 401', async () => (await statusOf(older)) === 401);
    expect(await statusOf(last.key)).toBe(200);

    expect((await line.run('keys', 'disable', key.id)).out).toBe(`Disabled ${key.id}.\n`);
    await until('the server answers 401', async () => (await statusOf(last.key)) === 401);
    expect((await line.run('keys', 'enable', key.id)).out).toBe(`Enabled ${key.id}.\n`);
    await until('the server answers 200', async () => (await statusOf(last.key)) === 200);
    await line.json('keys', 'update', key.id, '--model', 'something-else');
    await until('the server answers 403', async () => (await statusOf(last.key)) === 403);
    expect((await line.json('keys', 'revoke', key.id)).state).toBe('revoked');
    await until('the server answers 401', async () => (await statusOf(last.key)) === 401);
  });

  it('sets prices of a running server, and leaves old rows alone', async () => {
    const key = await line.createKey();
    const before = await line.decide(key.id, key.secret);
    await line.json('prices', 'set', DECISION_MODEL, '--input', '1000', '--output', '0');
    let after = await line.decide(key.id, key.secret);
    await until('the new price counts', async () => {
      after = await line.decide(key.id, key.secret);
      return after.costUsd !== before.costUsd;
    });
    const rows: { request_id: string; cost_usd: string; input_tokens: number }[] = await line.json(
      'requests',
      '--limit',
      '100000',
      '--key',
      key.id,
    );
    const rowOf = (requestId: string) => rows.find(({ request_id }) => request_id === requestId);
    expect(rowOf(before.requestId)?.cost_usd).toBe(before.costUsd);
    expect(Number(after.costUsd)).toBeCloseTo((rowOf(after.requestId)?.input_tokens ?? 0) / 1000, 12);
    expect((await line.json('prices', 'list', '--history'))[0]).toMatchObject({
      model: DECISION_MODEL,
      input_usd: '1000',
    });
  });

  it('keeps a trail of it, without secrets', async () => {
    const key = await line.createKey('--scope', 'admin');
    await line.run('keys', 'update', key.id, '--name', 'another shop');
    const [update, create] = await line.json('audit', '--limit', '2');
    expect(create).toMatchObject({ actor: 'command line', action: 'key.create', target: key.id });
    expect(update).toMatchObject({ actor: 'command line', action: 'key.update', details: { name: 'changed' } });
    const shown = await Promise.all([line.run('keys', 'list'), line.run('keys', 'show', key.id), line.run('audit')]);
    for (const { out } of shown) expect(out).not.toContain(key.secret);
  });

  it('says in one line what cannot be done', async () => {
    const { id } = await line.createKey();
    const told = async (...args: string[]) => {
      const { code, out, error } = await line.run(...args);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      return error;
    };
    expect(await told('keys', 'show', 'key_unknown')).toBe('umpire: There is no key with this id.\n');
    expect(await told('keys', 'rotate', id, '--overlap', '52w')).toMatch(/^umpire: The overlap must be [^\n]+\n$/);
    await line.run('keys', 'revoke', id);
    expect(await told('keys', 'enable', id)).toBe('umpire: The key is revoked for good.\n');
    const price = ['prices', 'set', 'x', '--input', '1', '--output', '1', '--from'];
    expect(await told(...price, '2001-01-01')).toMatch(/^umpire: A price takes effect now or later[^\n]*\n$/);
    expect((await line.run(...price, '2999-01-01')).code).toBe(0);
    expect(await told(...price, '2999-01-01')).toMatch(/^umpire: There is a price of this model [^\n]*\n$/);
  });
});
