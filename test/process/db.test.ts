// `umpire db …` as typed, beside a real server and on real stores: backup while it answers, refusals while it runs,
// a restore, and the move to PostgreSQL and on.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { embed } from './embed.ts';
import { runUmpire } from './run-umpire.ts';
import { type Environment, ROOT, ServerProcess } from './server-process.ts';

const MODELS = { UMPIRE_MODELS: join(ROOT, 'test', 'fixtures', 'tiny-embedding') };

let folder: string;
let postgres: PostgresServer;
const servers: ServerProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-db-'));
  postgres = await PostgresServer.start();
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.dispose()));
  await postgres.dispose();
  rmSync(folder, { recursive: true });
});

function launch(settings: Environment = {}): ServerProcess {
  const server = new ServerProcess({ ...MODELS, ...settings });
  servers.push(server);
  return server;
}

async function db(args: readonly string[], env: Environment) {
  const run = await runUmpire(['db', ...args], { cwd: folder, env });
  expect(run.out + run.error).not.toContain(postgres.password);
  return run;
}

async function usageOf(env: Environment): Promise<unknown> {
  const { out } = await runUmpire(['usage', '--by', 'key,model,day', '--json'], { cwd: folder, env });
  return JSON.parse(out);
}

it('umpire db backs up beside a server, restores once it has stopped, and moves to PostgreSQL', async () => {
  const first = launch();
  const address = await first.ready();
  const key = first.initialKey();
  const env = { UMPIRE_DATA_DIR: first.dataDir };
  expect(await embed(address, key)).toBe(200);

  expect(await db(['backup', 'one'], env)).toMatchObject({ code: 0, error: '' });
  expect(await db(['backup', 'one'], env)).toMatchObject({ code: 1, error: expect.stringContaining('exists already') });
  expect(await db(['check'], env)).toMatchObject({ code: 0, out: expect.stringContaining('No fault found.') });
  expect(await embed(address, key)).toBe(200);
  const busy = {
    code: 1,
    out: '',
    error: expect.stringMatching(/^umpire: A server uses the data folder .*: stop it first\.\n$/),
  };
  const url = await postgres.createDatabase();
  const target = { ...env, UMPIRE_TARGET_DATABASE_URL: url };
  expect(await db(['restore', 'one'], env)).toMatchObject(busy);
  expect(await db(['copy'], target)).toMatchObject(busy);
  expect(await first.stop()).toEqual({ code: 0, signal: null });

  expect(await usageOf(env)).toMatchObject([{ requests: 2 }]);
  expect(await db(['restore', 'one'], env)).toMatchObject({ code: 0, error: '' });
  const before = await usageOf(env);
  expect(before).toMatchObject([{ requests: 1 }]);

  const copied = await db(['copy'], target);
  expect(copied).toMatchObject({ code: 0, error: '', out: expect.stringMatching(/^ledger +1$/m) });
  const there = { UMPIRE_DATABASE_URL: url };
  expect(await usageOf(there)).toEqual(before);
  expect(await db(['copy'], target)).toMatchObject({ code: 1, error: expect.stringContaining('not empty') });

  const second = launch(there);
  expect(await embed(await second.ready(), key)).toBe(200);
  expect(await db(['check'], there)).toMatchObject({ code: 0, out: expect.stringMatching(/^ledger rows +2$/m) });
  const other = join(folder, 'other');
  const back = ['copy', '--to', other];
  expect(await db(back, there)).toMatchObject({
    code: 1,
    error: expect.stringContaining('1 servers gave a sign of life'),
  });
  expect(await second.stop()).toEqual({ code: 0, signal: null });
  expect(await db(back, there)).toMatchObject({ code: 0, error: '' });
  expect(await usageOf({ UMPIRE_DATA_DIR: other })).toMatchObject([{ requests: 2 }]);
});

it('umpire db tells for PostgreSQL what its own programs take, and nothing of the password', async () => {
  const there = { UMPIRE_DATABASE_URL: postgres.urlOf('books') };
  const dump = `pg_dump --format=custom --file=one postgres://umpire@127.0.0.1:${postgres.port}/books`;
  expect(await db(['backup', 'one.dump'], there)).toMatchObject({ code: 1, error: expect.stringContaining('pg_dump') });
  expect((await db(['backup', 'one'], there)).error).toContain(dump);
  expect((await db(['check'], there)).error).toMatch(/^umpire: PostgreSQL 127\.0\.0\.1:\d+\/books cannot be used: /);
});

it('umpire db makes no store where there is none', async () => {
  const env = { UMPIRE_DATA_DIR: join(folder, 'nothing') };
  for (const args of [['backup', 'two'], ['check'], ['copy', '--to', 'elsewhere']])
    expect(await db(args, env)).toMatchObject({ code: 1, out: '', error: expect.stringContaining('does not exist') });
  expect(existsSync(env.UMPIRE_DATA_DIR)).toBe(false);
  expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
});
