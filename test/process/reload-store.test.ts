// A reload of servers over PostgreSQL: each takes it over for itself, and what cannot be written to the audit trail is not
// done.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { CuttingProxy } from '../postgres/cutting-proxy.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { until } from '../waiting/until.ts';
import { ROOT, ServerProcess } from './server-process.ts';

const KEY = 'a-fixed-key-for-this-test';
const HEADERS = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
const MODEL = 'tiny-embedding';
const EVENTS = "select count(*)::int as count from audit_log where action = 'configuration.reload'";

let postgres: PostgresServer;
let folder: string;
let file: string;
const servers: ServerProcess[] = [];

beforeAll(async () => {
  postgres = await PostgresServer.start();
  folder = mkdtempSync(join(tmpdir(), 'umpire-reload-'));
  file = join(folder, 'umpire.yaml');
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.dispose()));
});

afterAll(async () => {
  await postgres.dispose();
  rmSync(folder, { recursive: true });
});

async function start(url: string): Promise<string> {
  const server = new ServerProcess({
    UMPIRE_DATABASE_URL: url,
    UMPIRE_MODELS: join(ROOT, 'test', 'fixtures', MODEL),
    UMPIRE_API_KEY: KEY,
    UMPIRE_CONFIG: file,
  });
  servers.push(server);
  return await server.ready();
}

const offer = (alias: string) => writeFileSync(file, `aliases: { ${alias}: ${MODEL} }\n`);

async function reload(address: string) {
  const reply = await fetch(`${address}/admin/v1/reload`, { method: 'POST', headers: HEADERS });
  return { status: reply.status, json: (await reply.json()) as { changed?: string[]; error?: { code: string } } };
}

async function statusOf(address: string, alias: string): Promise<number> {
  return (await fetch(`${address}/ai/v1/models/${alias}`, { headers: HEADERS })).status;
}

it('changes nothing while the store is away, and all of it afterwards', async () => {
  const proxy = await CuttingProxy.before(postgres.port);
  const url = await postgres.createDatabase();
  offer('old');
  const address = await start(proxy.urlOf(url));
  expect(await statusOf(address, 'old')).toBe(200);
  offer('new');
  // The next statement, whosever it is, finds nobody.
  void proxy.cutAfter(0, 'before');
  await until('the database is away', async () => {
    await reload(address);
    return proxy.isAway;
  });
  const refused = await reload(address);
  expect([refused.status, refused.json.error?.code]).toEqual([503, 'store_unavailable']);
  expect([await statusOf(address, 'old'), await statusOf(address, 'new')]).toEqual([200, 404]);
  proxy.restore();
  let done = await reload(address);
  await until('the store is found again', async () => {
    if (done.status !== 200) done = await reload(address);
    return done.status === 200;
  });
  expect(done.json.changed).toEqual(['aliases']);
  expect([await statusOf(address, 'old'), await statusOf(address, 'new')]).toEqual([404, 200]);
  expect(await postgres.query(url, EVENTS)).toEqual([{ count: 1 }]);
  await proxy.close();
});

it('is taken over by the server that was told, and by no other', async () => {
  const url = await postgres.createDatabase();
  offer('old');
  const addresses = await Promise.all([start(url), start(url)]);
  const [told = '', other = ''] = addresses;
  offer('new');
  expect((await reload(told)).json.changed).toEqual(['aliases']);
  expect(await Promise.all(addresses.map((address) => statusOf(address, 'new')))).toEqual([200, 404]);
  expect((await reload(other)).json.changed).toEqual(['aliases']);
  expect(await Promise.all(addresses.map((address) => statusOf(address, 'new')))).toEqual([200, 200]);
  expect(await postgres.query(url, EVENTS)).toEqual([{ count: 2 }]);
});
