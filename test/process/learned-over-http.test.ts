// A model learned over HTTP by a server as its users run it, and what is left of a learning that is cut off: by the death
// of its process, by SIGTERM, by kill -9 of the server.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testLogs } from '../log-scan/test-logs.ts';
import { until } from '../waiting/until.ts';
import { ServerProcess } from './server-process.ts';

const KEY = 'a-key-for-learned-models';
const BASE = 'tiny-decision';
const QUESTION = { type: 'noul', instructions: 'Is it urgent?' };
const SETTINGS = {
  UMPIRE_MODELS_DIR: join(import.meta.dirname, '..', 'fixtures'),
  UMPIRE_MODELS: BASE,
  UMPIRE_API_KEY: KEY,
  UMPIRE_ENGINE_WORKERS: '2',
};

/** Enough of them to be caught in the act. */
const MANY_ROWS = 4000;
const FEW_ROWS = 60;

// biome-ignore lint/suspicious/noExplicitAny: a reply is whatever the server sent; tests say what they expect
type Json = any;

function rowsOf(count: number, salt = ''): object[] {
  return Array.from({ length: count }, (_, index) => ({
    state: index % 2 === 0 ? `now now now ${salt}${index}` : `some day, perhaps ${salt}${index}`,
    gold: { urgent: index % 2 === 0 },
  }));
}

let dataDir: string;
let server: ServerProcess;
let address: string;

async function start(): Promise<void> {
  server = new ServerProcess({ ...SETTINGS, UMPIRE_DATA_DIR: dataDir });
  address = await server.ready();
}

async function ask(
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; json: Json; head: Headers }> {
  const reply = await fetch(`${address}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, json: await reply.json(), head: reply.headers };
}

const learn = (rows: object[], id = 'urgency') =>
  ask('POST', '/admin/v1/models', { id, model: BASE, questions: { urgent: QUESTION }, rows });
const find = async (id = 'urgency') => (await ask('GET', `/admin/v1/models/${id}`)).json;
const decide = (id = 'urgency') =>
  ask('POST', '/ai/v1/systemone', { model: id, state: 'now now', questions: { urgent: QUESTION } });

async function learned(id = 'urgency'): Promise<Json> {
  await until('the learning has ended', async () => (await find(id)).job.state !== 'running', { pauseMs: 100 });
  return await find(id);
}

/** Its documents are being read. */
async function caughtInTheAct(): Promise<void> {
  expect((await learn(rowsOf(MANY_ROWS, 'other '))).status).toBe(202);
  await until('it reads', async () => (await find()).job.progress.step === 'reading', { pauseMs: 50 });
}

/** Processes that learn for the server. */
function listLearning(): number[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,args=']);
  const mine = new Set([String(server.pid)]);
  const lines = String(stdout)
    .split('\n')
    .filter((line) => line.includes('learn-worker'));
  const parents = lines.map((line) => Number(/\d+/.exec(line)?.[0]));
  return parents.filter((pid) => isDescendant(pid, mine));
}

function isDescendant(pid: number, ancestors: ReadonlySet<string>): boolean {
  try {
    const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
    return ancestors.has(parent) || (Number(parent) > 1 && isDescendant(Number(parent), ancestors));
  } catch {
    return false;
  }
}

describe.runIf(process.platform === 'linux')('a model learned over HTTP', () => {
  let first: Json;

  beforeAll(async () => {
    testLogs.keepSecret(KEY);
    dataDir = mkdtempSync(join(tmpdir(), 'umpire-learned-'));
    await start();
  });
  afterAll(async () => {
    await server.dispose();
    rmSync(dataDir, { recursive: true });
  });

  it('answers from the moment in which it is there', async () => {
    expect((await decide()).status).toBe(404);
    expect((await learn(rowsOf(FEW_ROWS))).json).toMatchObject({ state: 'absent', job: { state: 'running' } });
    first = await learned();
    expect(first).toMatchObject({
      state: 'served',
      job: { state: 'succeeded', report: { questions: [{ type: 'noul', verdict: 'learned', rows: FEW_ROWS }] } },
    });
    const answer = await decide();
    expect([answer.status, answer.head.get('x-umpire-answered-by')]).toEqual([200, 'head']);
    expect(answer.json.answers.urgent.noul).toBeGreaterThan(0.5);
  });

  it('is replaced while it is asked, and no request notices', async () => {
    await learn(rowsOf(FEW_ROWS + 20, 'more '));
    const statuses = new Set<number>();
    await until('it is replaced', async () => {
      statuses.add((await decide()).status);
      return (await find()).job.state !== 'running';
    });
    statuses.add((await decide()).status);
    expect([...statuses]).toEqual([200]);
    const second = await find();
    expect(second.digest).not.toBe(first.digest);
    first = second;
  });

  it('stays when the process that learns is killed', async () => {
    await caughtInTheAct();
    const [child = 0, ...others] = listLearning();
    expect([child > 0, others]).toEqual([true, []]);
    process.kill(child, 'SIGKILL');
    expect(await learned()).toMatchObject({
      ...{ state: 'served', digest: first.digest },
      job: { state: 'failed', error: { code: 'process_lost' } },
    });
    expect((await decide()).status).toBe(200);
  });

  it('stays when the learning is cancelled, and its process is gone', async () => {
    await caughtInTheAct();
    expect((await ask('DELETE', '/admin/v1/models/urgency')).json.outcome).toBe('cancelled');
    expect(await find()).toMatchObject({ digest: first.digest, job: { state: 'cancelled' } });
    expect(listLearning()).toEqual([]);
  });

  it('stays when the server is told to end, which it does at once', async () => {
    await caughtInTheAct();
    const children = listLearning();
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(children.map((pid) => existsSync(`/proc/${pid}`))).toEqual([false]);
    await start();
    expect(await find()).toMatchObject({
      ...{ state: 'served', digest: first.digest },
      job: { state: 'failed', error: { code: 'interrupted' } },
    });
  });

  it('stays when the server is killed, and so is what learned', async () => {
    await caughtInTheAct();
    const children = listLearning();
    expect(children).toHaveLength(1);
    await server.stop('SIGKILL');
    await until('nobody learns', () => children.every((pid) => !existsSync(`/proc/${pid}`)));
    await start();
    expect(await find()).toMatchObject({
      ...{ state: 'served', digest: first.digest },
      job: { state: 'failed', error: { code: 'interrupted' } },
    });
    expect((await decide()).status).toBe(200);
    await learn(rowsOf(FEW_ROWS, 'again '));
    expect(await learned()).toMatchObject({ state: 'served', job: { state: 'succeeded' } });
  });

  it('is gone when it is removed', async () => {
    expect((await ask('DELETE', '/admin/v1/models/urgency')).json.outcome).toBe('removed');
    expect([(await decide()).status, existsSync(join(dataDir, 'models', 'urgency'))]).toEqual([404, false]);
  });

  it('leaves no word of its rows in the data folder or the log', () => {
    const { stdout } = spawnSync('grep', ['-rlaE', 'now now now|some day, perhaps|Is it urgent', dataDir]);
    expect(stdout.toString()).toBe('');
    expect(server.output).not.toMatch(/now now now|some day, perhaps|Is it urgent/);
  });
});
