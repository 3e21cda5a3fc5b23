// Servers over PostgreSQL as their users run them: several at once on an empty store, a start without a store, and what
// of the address gets into what they print.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { embed } from './embed.ts';
import { runUmpire } from './run-umpire.ts';
import { type Environment, ROOT, ServerProcess } from './server-process.ts';

const MODEL = join(ROOT, 'test', 'fixtures', 'tiny-embedding');

let postgres: PostgresServer;
const servers: ServerProcess[] = [];

beforeAll(async () => {
  postgres = await PostgresServer.start();
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.dispose()));
});

afterAll(async () => {
  await postgres.dispose();
});

function launch(url: string, settings: Environment = {}): ServerProcess {
  const server = new ServerProcess({ UMPIRE_DATABASE_URL: url, UMPIRE_MODELS: MODEL, ...settings });
  servers.push(server);
  return server;
}

it('servers over PostgreSQL make one first key that all of them take, bill in one ledger, and say goodbye', async () => {
  const url = await postgres.createDatabase();
  const pair = [launch(url), launch(url)];
  const addresses = await Promise.all(pair.map((server) => server.ready()));
  const [first, ...others] = pair.filter(({ dataDir }) => existsSync(join(dataDir, 'initial-key')));
  expect(others).toEqual([]);
  const key = first?.initialKey() ?? '';
  expect(await Promise.all(addresses.map((address) => embed(address, key)))).toEqual([200, 200]);
  expect(await postgres.query(url, 'select key_id, end_type, status from ledger')).toEqual(
    addresses.map(() => ({ key_id: 'key_initial', end_type: 'completed', status: 200 })),
  );
  expect(await postgres.query(url, 'select id from instances')).toHaveLength(2);
  expect(await Promise.all(pair.map((server) => server.stop()))).toEqual(pair.map(() => ({ code: 0, signal: null })));
  expect(await postgres.query(url, 'select id from instances')).toEqual([]);
  for (const { output } of pair) expect(output).not.toContain(postgres.password);
});

it('servers over PostgreSQL keep no file of their own: the command line sees the same store from anywhere', async () => {
  const url = await postgres.createDatabase();
  const cwd = mkdtempSync(join(tmpdir(), 'umpire-command-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const env = { UMPIRE_DATABASE_URL: url };
  const created = await runUmpire(['keys', 'create', '--name', 'from afar'], { cwd, env });
  expect(created).toMatchObject({ code: 0, error: '' });
  const listed = await runUmpire(['keys', 'list'], { cwd, env });
  expect(listed.out).toContain('from afar');
  expect(existsSync(join(cwd, 'data'))).toBe(false);
});

it('servers over PostgreSQL do not start without their store, and say why without the password', async () => {
  const url = postgres.urlOf('nowhere');
  const server = launch(url);
  expect(await server.exited).toEqual({ code: 1, signal: null });
  expect(server.output).toBe(
    `umpire: The store on PostgreSQL (127.0.0.1:${postgres.port}/nowhere) cannot be used: database "nowhere" does not exist.\n`,
  );
});

it('doctor over PostgreSQL says how far the clocks are apart, and what a user who may only read lacks', async () => {
  const url = await postgres.createDatabase();
  const cwd = mkdtempSync(join(tmpdir(), 'umpire-doctor-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const env = { UMPIRE_DATABASE_URL: url, UMPIRE_MODELS: MODEL, UMPIRE_PORT: '0' };
  expect((await runUmpire(['keys', 'create', '--name', 'x'], { cwd, env })).code).toBe(0);
  const sound = await runUmpire(['doctor', '--quick'], { cwd, env });
  expect(sound).toMatchObject({ code: 0, error: '' });
  expect(sound.out).toMatch(/^ok +store +PostgreSQL .*schema (\d+) of \1$/m);
  expect(sound.out).toMatch(/^ok +clock +\S+Z, 0\.\d s (ahead of|behind) that of the database$/m);
  await postgres.query(
    url,
    `alter database "${new URL(url).pathname.slice(1)}" set default_transaction_read_only = on`,
  );
  const readOnly = await runUmpire(['doctor', '--quick'], { cwd, env });
  expect(readOnly.code).toBe(1);
  expect(readOnly.out).toMatch(/^fail +store +PostgreSQL .* cannot be written$/m);
  expect(sound.out + readOnly.out).not.toContain(postgres.password);
});
