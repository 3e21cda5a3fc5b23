// The command line beside a running server, on both stores: keys, prices, rows and the trail as an operator sees them.

import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testLogs } from '../log-scan/test-logs.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { runUmpire } from '../process/run-umpire.ts';
import { exchange } from './exchange.ts';
import { Fleet } from './fleet.ts';
import { type MoneyStore, PostgresMoneyStore, SqliteMoneyStore } from './money-store.ts';
import { DECISION_MODEL } from './priced-models.ts';

/** What a change of another process may take to be seen. */
const SEEN_WITHIN_MS = 5000;

interface Setting {
  readonly store: MoneyStore;
  dispose(): Promise<void>;
}

async function onSqlite(): Promise<Setting> {
  const store = new SqliteMoneyStore();
  return { store, dispose: () => store.dispose() };
}

async function onPostgres(): Promise<Setting> {
  const server = await PostgresServer.start();
  return { store: await PostgresMoneyStore.create(server), dispose: () => server.dispose() };
}

describe.each([
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
])('the command line beside a server on %s', (_name, open) => {
  let setting: Setting;
  let fleet: Fleet;
  let address: string;

  beforeAll(async () => {
    setting = await open();
    fleet = await Fleet.over(setting.store);
    [address = ''] = await fleet.launchMany(1);
  });

  afterAll(async () => {
    await fleet.dispose();
    await setting.dispose();
  });

  const umpire = (...args: string[]) => runUmpire(args, { cwd: tmpdir(), env: setting.store.settings });

  async function json(...args: string[]) {
    const { code, out, error } = await umpire(...args, '--json');
    expect({ code, error }).toEqual({ code: 0, error: '' });
    return JSON.parse(out);
  }

  async function createKey(...args: string[]): Promise<{ readonly id: string; readonly secret: string }> {
    const { id, key } = await json('keys', 'create', '--name', 'a shop', ...args);
    testLogs.keepSecret(key);
    return { id, secret: key };
  }

  let requests = 0;
  async function decide(key: { readonly id: string; readonly secret: string }) {
    const order = { requestId: `line-${++requests}`, kind: 'decision' as const, words: 3, keyId: key.id };
    const answer = await exchange(address, { ...order, secret: key.secret });
    return { requestId: order.requestId, status: answer?.status, costUsd: answer?.headers.get('x-umpire-cost-usd') };
  }

  async function until(seen: () => Promise<boolean>): Promise<void> {
    const deadlineMs = Date.now() + SEEN_WITHIN_MS;
    while (!(await seen())) expect(Date.now()).toBeLessThan(deadlineMs);
  }

  it('says what a request cost and what is left, exactly as the reply did', async () => {
    const key = await createKey('--model', `${DECISION_MODEL.slice(0, 3)}*`, '--budget', '1.5', '--reset', 'day');
    const { requestId, status, costUsd } = await decide(key);
    expect(status).toBe(200);
    expect(costUsd).toMatch(/^0\.0\d*[1-9]$/);
    expect(await json('requests', '--key', key.id)).toMatchObject([
      { request_id: requestId, key: key.id, model: DECISION_MODEL, end: 'completed', status: 200, cost_usd: costUsd },
    ]);
    expect(await json('usage', '--by', 'key,model', '--key', key.id)).toMatchObject([
      { key: key.id, key_name: 'a shop', model: DECISION_MODEL, requests: 1, cost_usd: costUsd },
    ]);
    const { budget, last_used_at } = await json('keys', 'show', key.id);
    expect(budget).toMatchObject({ amount_usd: '1.5', reset: 'day', spent_usd: costUsd, reserved_usd: '0' });
    expect(last_used_at).toMatch(/^\d{4}-/);
    expect((await umpire('usage', '--by', 'day', '--key', key.id)).out).toMatch(
      /^\d{4}-\d\d-\d\d +1 +\d+ +0 +0 +0 +0\.0/m,
    );
    expect((await umpire('requests', '--key', key.id, '--csv')).out.split('\r\n')).toHaveLength(3);
  });

  it('changes keys of a running server', async () => {
    const key = await createKey();
    const statusOf = async (secret: string) => (await decide({ id: key.id, secret })).status;
    const rotated = await json('keys', 'rotate', key.id, '--overlap', '1h');
    testLogs.keepSecret(rotated.key);
    expect(await statusOf(rotated.key)).toBe(200);
    expect(await statusOf(key.secret)).toBe(200);
    const last = await json('keys', 'rotate', key.id, '--overlap', '0m');
    testLogs.keepSecret(last.key);
    await until(async () => (await statusOf(rotated.key)) === 401);
    expect(await statusOf(key.secret)).toBe(401);

    expect((await umpire('keys', 'disable', key.id)).out).toBe(`Disabled ${key.id}.\n`);
    await until(async () => (await statusOf(last.key)) === 401);
    expect((await umpire('keys', 'enable', key.id)).out).toBe(`Enabled ${key.id}.\n`);
    await until(async () => (await statusOf(last.key)) === 200);
    await json('keys', 'update', key.id, '--model', 'something-else');
    await until(async () => (await statusOf(last.key)) === 403);
    expect((await json('keys', 'revoke', key.id)).state).toBe('revoked');
    await until(async () => (await statusOf(last.key)) === 401);
  });

  it('sets prices of a running server, and leaves old rows alone', async () => {
    const key = await createKey();
    const before = await decide(key);
    await json('prices', 'set', DECISION_MODEL, '--input', '1000', '--output', '0');
    let after = await decide(key);
    await until(async () => {
      after = await decide(key);
      return after.costUsd !== before.costUsd;
    });
    const rows: { request_id: string; cost_usd: string; input_tokens: number }[] = await json(
      'requests',
      '--key',
      key.id,
    );
    const rowOf = (requestId: string) => rows.find(({ request_id }) => request_id === requestId);
    expect(rowOf(before.requestId)?.cost_usd).toBe(before.costUsd);
    expect(Number(after.costUsd)).toBeCloseTo((rowOf(after.requestId)?.input_tokens ?? 0) / 1000, 12);
    expect((await json('prices', 'list', '--history'))[0]).toMatchObject({ model: DECISION_MODEL, input_usd: '1000' });
  });

  it('keeps a trail of it, without secrets', async () => {
    const key = await createKey('--scope', 'admin');
    await umpire('keys', 'update', key.id, '--name', 'another shop');
    const [update, create] = await json('audit', '--limit', '2');
    expect(create).toMatchObject({ actor: 'command line', action: 'key.create', target: key.id });
    expect(update).toMatchObject({ actor: 'command line', action: 'key.update', details: { name: 'changed' } });
    const shown = await Promise.all([umpire('keys', 'list'), umpire('keys', 'show', key.id), umpire('audit')]);
    for (const { out } of shown) expect(out).not.toContain(key.secret);
  });

  it('says in one line what cannot be done', async () => {
    const { id } = await createKey();
    const told = async (...args: string[]) => {
      const { code, out, error } = await umpire(...args);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      return error;
    };
    expect(await told('keys', 'show', 'key_unknown')).toBe('umpire: There is no key with this id.\n');
    expect(await told('keys', 'rotate', id, '--overlap', '52w')).toMatch(/^umpire: The overlap must be [^\n]+\n$/);
    await umpire('keys', 'revoke', id);
    expect(await told('keys', 'enable', id)).toBe('umpire: The key is revoked for good.\n');
    const price = ['prices', 'set', 'x', '--input', '1', '--output', '1', '--from'];
    expect(await told(...price, '2001-01-01')).toMatch(/^umpire: A price takes effect now or later[^\n]*\n$/);
    expect((await umpire(...price, '2999-01-01')).code).toBe(0);
    expect(await told(...price, '2999-01-01')).toMatch(/^umpire: There is a price of this model [^\n]*\n$/);
  });
});
