// SIGHUP: a server takes over what has changed in its configuration, or says why it does not; what is under way keeps what it
// began with.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SqliteMoneyStore } from '../money/money-store.ts';
import { OtlpCollector } from '../observability/telemetry/otlp-collector.ts';
import { answerHello, deltaChunk, event, startStream, USAGE_CHUNK } from '../upstream/upstream-answers.ts';
import { type AnswerScript, UpstreamDouble } from '../upstream/upstream-double.ts';
import { until } from '../waiting/until.ts';
import { runUmpire } from './run-umpire.ts';
import { LAUNCHER, ROOT, ServerProcess } from './server-process.ts';
import { hasTerminals, inTerminal } from './terminal.ts';

const KEY = 'a-fixed-key-for-this-test';
const NEW_UPSTREAM_KEY = 'sk-key-that-comes-with-the-reload';
const TINY_MODEL = join(ROOT, 'test', 'fixtures', 'tiny-embedding');
const ORIGIN = 'https://app.example.com';
const MESSAGES = [{ role: 'user', content: 'Hi there' }];

let folder: string;
let file: string;
let store: SqliteMoneyStore;
let first: UpstreamDouble;
let second: UpstreamDouble;
let server: ServerProcess;
/** Lets the first upstream say the rest of its stream. */
let finish: () => void;

const answerInTwo: AnswerScript = (response, request) => {
  if (request.json.stream !== true) {
    answerHello(response, request);
    return;
  }
  startStream(response);
  response.write(event(deltaChunk('Hello')));
  finish = () => response.end([deltaChunk(' there!', 'stop'), USAGE_CHUNK, '[DONE]'].map(event).join(''));
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-reload-'));
  file = join(folder, 'umpire.yaml');
  store = new SqliteMoneyStore();
  first = await UpstreamDouble.start(answerInTwo);
  second = await UpstreamDouble.start(answerHello);
});

afterEach(async () => {
  await server.disposeGroup();
  await Promise.all([first.close(), second.close()]);
  await store.dispose();
  rmSync(folder, { recursive: true });
});

interface Written {
  readonly upstream: UpstreamDouble;
  readonly id?: string;
  /** Micro-dollars per million tokens of output. */
  readonly price?: number;
  readonly more?: string;
}

function write({ upstream, id = 'llama', price = 1_000_000, more = '' }: Written): void {
  const model = `{ id: ${id}, outputMicroUsdPerMillionTokens: ${price} }`;
  const key = upstream === second ? ', apiKeyEnv: SECOND_KEY' : '';
  writeFileSync(
    file,
    `upstreams:\n  - { name: vendor, baseUrl: "${upstream.baseUrl}"${key}, checkAtStart: false, models: [${model}] }\n${more}`,
  );
}

async function start(written: Written, command?: readonly string[]): Promise<void> {
  write(written);
  const settings = {
    UMPIRE_API_KEY: KEY,
    UMPIRE_MODELS: TINY_MODEL,
    UMPIRE_CONFIG: file,
    SECOND_KEY: NEW_UPSTREAM_KEY,
  };
  server = new ServerProcess({ ...store.settings, ...settings }, command, { ownGroup: true });
  await server.ready();
}

/** @returns what was said of it: the first of these lines that has not been there before */
async function reload(said = /"msg":"(not )?reloaded[^"]*"/): Promise<string> {
  const before = server.output.length;
  server.kill('SIGHUP');
  const after = new RegExp(`^[^]{${before}}[^]*?\\n?([^\\n]*${said.source}[^\\n]*)\\n`);
  return (await server.waitFor(after))[1] ?? '';
}

async function call(path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
  const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const all = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers };
  return await fetch(`${await server.ready()}/ai/v1/${path}`, { headers: all, ...post });
}

const chat = (model: string, fields: object = {}) => call('chat/completions', { model, messages: MESSAGES, ...fields });

describe('a server that gets SIGHUP', () => {
  it('takes over upstreams, prices, aliases, limits, CORS and the level of its log; a stream goes on as it began', async () => {
    await start({ upstream: first });
    const streaming = await chat('llama', { stream: true });
    const more = `aliases: { latest: llama }\nhttp: { cors: ["${ORIGIN}"], bodyLimitBytes: 2048 }\nlog: { level: debug }\n`;
    write({ upstream: second, price: 5_000_000, more });
    const line = await reload();
    expect(line).toContain('"changed":["aliases","http.bodyLimitBytes","http.cors","log.level","upstreams"]');

    expect((await chat('latest')).status).toBe(200);
    expect(second.requests).toHaveLength(1);
    expect(second.lastRequest.headers.authorization).toBe(`Bearer ${NEW_UPSTREAM_KEY}`);
    expect((await chat('llama', { user: 'x'.repeat(3000) })).status).toBe(413);
    const models = await call('models', undefined, { origin: ORIGIN });
    expect(models.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    await call('../../healthz');
    await server.waitFor(/"level":"debug"[^\n]*healthz/);

    finish();
    expect(await streaming.text()).toContain('[DONE]');
    expect(first.requests).toHaveLength(1);
    // Three tokens of output each, at the price of the moment.
    const costs = await store.query('SELECT cost_pico_usd FROM ledger ORDER BY cost_pico_usd');
    expect(costs.map((row) => Number(row['cost_pico_usd']))).toEqual([3_000_000, 15_000_000]);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(server.output).not.toContain(NEW_UPSTREAM_KEY);
  });

  it.each([
    ['is no YAML', { more: 'http: {' }, 'is not valid YAML'],
    ['has an unknown setting', { more: 'htpp: {}\n' }, 'htpp in the file: no such setting'],
    ['names an upstream model as a local one', { id: 'tiny-embedding' }, 'Two models have the id'],
    ['has an alias of nothing', { more: 'aliases: { latest: nothing }\n' }, 'is no model of this server'],
  ])('changes nothing where its file %s, and says so', async (_what, written, fault) => {
    await start({ upstream: first });
    write({ upstream: second, ...written });
    const line = await reload();
    expect(line).toContain('"level":"error"');
    expect(line).toContain(fault);
    expect((await chat('llama')).status).toBe(200);
    expect([first.requests.length, second.requests.length]).toEqual([1, 0]);
    // And it takes a sound one afterwards.
    write({ upstream: second });
    expect(await reload()).toContain('"changed":["upstreams"]');
    expect((await chat('llama')).status).toBe(200);
    expect(second.requests).toHaveLength(1);
  });

  it('names what waits for a restart, as long as it does', async () => {
    await start({ upstream: first });
    write({ upstream: first, more: 'engine: { probeIntervalMs: 7 }\nport: 1\n' });
    expect(await reload(/"msg":"these settings[^"]*"/)).toContain('"settings":["engine.probeIntervalMs"]');
    expect(await reload(/"msg":"these settings[^"]*"/)).toContain('"settings":["engine.probeIntervalMs"]');
    write({ upstream: first });
    expect(await reload()).toContain('nothing has changed');
  });

  it('leaves an upstream alone that has not changed, with its connections', async () => {
    await start({ upstream: first });
    await (await chat('llama')).text();
    write({ upstream: first, more: 'log: { level: debug }\n' });
    await reload();
    await (await chat('llama')).text();
    expect(first.requests).toHaveLength(2);
    expect(first.connectionsSoFar).toBe(1);
  });

  it('gets it through an older Node that stands in front of it as well', async () => {
    const pretend = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})`;
    await start({ upstream: first }, [process.execPath, '--import', pretend, LAUNCHER, 'serve']);
    write({ upstream: second });
    expect(await reload()).toContain('"changed":["upstreams"]');
  });
});

async function admin(method: 'GET' | 'POST', path: string, key = KEY): Promise<{ status: number; json: unknown }> {
  const reply = await fetch(`${await server.ready()}${path}`, { method, headers: { authorization: `Bearer ${key}` } });
  return { status: reply.status, json: await reply.json() };
}

describe('a server that an administrator tells to reload', () => {
  it('says what it took over and what waits, and the audit trail says who did it', async () => {
    await start({ upstream: first });
    const more = `learning: { maxRows: 7 }\nengine: { queueMaxJobs: 7, workers: 1 }\nhttp: { bodyLimitBytes: 2048 }\n`;
    write({ upstream: second, more });
    const changed = ['engine.queueMaxJobs', 'http.bodyLimitBytes', 'learning.maxRows', 'upstreams'];
    const told = { object: 'reload', changed: expect.any(Array), waiting_for_restart: ['engine.workers'] };
    const { status, json } = await admin('POST', '/admin/v1/reload');
    expect({ status, json }).toEqual({ status: 200, json: told });
    expect((json as { changed: string[] }).changed.sort()).toEqual(changed);
    await (await chat('llama')).text();
    expect(second.requests).toHaveLength(1);
    expect(JSON.stringify((await admin('GET', '/openapi.json')).json)).toContain('at most 2,048 bytes (2 KiB)');
    const audit = (await admin('GET', '/admin/v1/audit')).json as { data: Record<string, unknown>[] };
    const [record] = audit.data;
    expect(record).toMatchObject({ action: 'configuration.reload', target: 'configuration' });
    expect((record?.['details'] as { changed: string[] } | undefined)?.changed.sort()).toEqual(changed);

    // A reload that changes nothing leaves no record.
    expect((await admin('POST', '/admin/v1/reload')).json).toEqual({ ...told, changed: [] });
    const after = (await admin('GET', '/admin/v1/audit')).json as { data: object[] };
    expect(after.data).toHaveLength(audit.data.length);
  });

  it('changes nothing where the configuration has a fault, and says which', async () => {
    await start({ upstream: first });
    write({ upstream: second, more: 'htpp: {}\n' });
    expect(await admin('POST', '/admin/v1/reload')).toMatchObject({
      status: 409,
      json: {
        error: { code: 'reload_failed', message: expect.stringMatching(/^Nothing was changed\. htpp in the file/) },
      },
    });
    expect((await chat('llama')).status).toBe(200);
    expect([first.requests.length, second.requests.length]).toEqual([1, 0]);
    expect((await admin('GET', '/admin/v1/audit')).json).toMatchObject({ data: [] });
  });

  it('does the same for `umpire reload`, whose exit code says whether it did', async () => {
    await start({ upstream: first });
    const { port } = new URL(await server.ready());
    const around = { cwd: folder, env: { UMPIRE_API_KEY: KEY, UMPIRE_PORT: port } };
    write({ upstream: second, more: 'engine: { workers: 1 }\n' });
    expect(await runUmpire(['reload'], around)).toEqual({
      code: 0,
      out: 'Reloaded: upstreams\nThese wait for a restart: engine.workers\n',
      error: '',
    });
    expect((await runUmpire(['reload', '--json'], around)).out).toBe(
      '{"changed":[],"waiting_for_restart":["engine.workers"]}\n',
    );
    write({ upstream: first, more: 'htpp: {}\n' });
    const failed = await runUmpire(['reload'], around);
    expect(failed).toMatchObject({ code: 1, out: '' });
    expect(failed.error).toContain('htpp in the file: no such setting');
    await (await chat('llama')).text();
    expect(second.requests).toHaveLength(1);
    const stranger = await runUmpire(['reload', '--url', await server.ready()], { cwd: folder, env: {} });
    expect(stranger).toMatchObject({ code: 1, error: expect.stringContaining('UMPIRE_API_KEY takes the key for it.') });
  });

  it('begins to trace, and ends it, as the file says', async () => {
    const collector = await OtlpCollector.start();
    try {
      await start({ upstream: first });
      await (await chat('llama')).text();
      write({ upstream: first, more: `telemetry: { endpoint: "${collector.address}" }\n` });
      expect(await admin('POST', '/admin/v1/reload')).toMatchObject({ json: { changed: ['telemetry.endpoint'] } });
      const streaming = await chat('llama', { stream: true });
      write({ upstream: first });
      expect(await admin('POST', '/admin/v1/reload')).toMatchObject({ json: { changed: ['telemetry.endpoint'] } });
      await (await chat('llama')).text();
      finish();
      expect(await streaming.text()).toContain('[DONE]');
      const roots = (all: readonly { name: string }[]) => all.filter(({ name }) => name.startsWith('POST'));
      // The stream, and the reload in whose middle the traces ended.
      await collector.untilSpans((all) => roots(all).length === 2);
      expect(await server.stop()).toEqual({ code: 0, signal: null });
      expect(roots(collector.spans).map(({ name }) => name)).toEqual(
        expect.arrayContaining(['POST /ai/v1/chat/completions', 'POST /admin/v1/reload']),
      );
      expect(roots(collector.spans)).toHaveLength(2);
    } finally {
      collector.close();
    }
  });
});

describe.runIf(hasTerminals())('a server whose terminal is closed', () => {
  it('stops, and finishes what was accepted', async () => {
    await start({ upstream: first }, inTerminal(`${process.execPath} ${LAUNCHER} serve --log-format json`));
    const address = await server.ready();
    const admin = { headers: { authorization: `Bearer ${KEY}` } };
    const status = await (await fetch(`${address}/admin/v1/status`, admin)).json();
    const { process_id: processId } = status as { process_id: number };
    try {
      const streaming = await chat('llama', { stream: true });
      // The terminal goes with the program that it belongs to.
      await server.stop('SIGKILL');
      const isThere = () =>
        fetch(`${address}/healthz`).then(
          () => true,
          () => false,
        );
      await until('the server listens no more', async () => !(await isThere()));
      finish();
      expect(await streaming.text()).toContain('[DONE]');
      await until('the server has ended', () => !isRunning(processId));
    } finally {
      if (isRunning(processId)) process.kill(processId, 'SIGKILL');
    }
  });
});

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}
