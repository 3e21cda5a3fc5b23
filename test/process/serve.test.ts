// A whole start of the server: what it says, what it writes, what it answers while it loads, and what a start refuses.

import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readPackedJson } from '../models/packed-json.ts';
import { decide, type Target } from './decisions.ts';
import { ROOT, ServerProcess } from './server-process.ts';

const MODEL = join(ROOT, 'models', 'text-embed-mini');

async function post({ address, key }: Target, path: string, body: object | string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return await fetch(`${address}/ai/v1/${path}`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

describe('a first start, nobody watching', () => {
  let server: ServerProcess;
  let target: Target;
  let whileLoading: { readonly readyz: Response; readonly decision: Response };

  beforeAll(async () => {
    server = new ServerProcess();
    const address = await server.listening();
    target = { address, key: server.initialKey() };
    const [readyz, decision] = await Promise.all([fetch(`${address}/readyz`), decide(target, 10)]);
    whileLoading = { readyz, decision };
    await server.ready();
  });

  afterAll(() => server.dispose());

  it('answers before the models are loaded: not ready, come back', async () => {
    expect(whileLoading.readyz.status).toBe(503);
    expect(await whileLoading.readyz.json()).toMatchObject({ status: 'loading' });
    expect(whileLoading.decision.status).toBe(503);
    expect(Number(whileLoading.decision.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await whileLoading.decision.json()).toMatchObject({ error: { code: 'overloaded' } });
  });

  it('says address, models, device, workers and where data lives', () => {
    expect(server.output).toContain(`ready   ${target.address}`);
    expect(server.output).toMatch(/model {3}kev \(decision, sha256:[0-9a-f]{12}\)/);
    expect(server.output).toMatch(/model {3}text-embed-mini \(embedding, sha256:[0-9a-f]{12}\)/);
    expect(server.output).toMatch(/device {2}cpu, \d+ workers? × \d+ threads?/);
    expect(server.output).toContain(`data    ${server.dataDir}`);
  });

  it('writes a key that works to a file for its owner, and says where', async () => {
    const file = join(server.dataDir, 'initial-key');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // The last line of the start: it may come after the one that says ready.
    expect((await server.waitFor(/A first API key was written to ([^"\n]+)/))[1]).toBe(file);
    const decision = await decide(target, 10);
    expect(decision.status).toBe(200);
    expect(await decision.json()).toHaveProperty('answers.department.choice');
    expect((await decide({ ...target, key: `${target.key}x` }, 10)).status).toBe(401);
  });

  it('logs neither keys nor texts, whatever is sent', async () => {
    const marker = 'xylophone-4711';
    const foreign = `sk-${marker}-key`;
    const questions = { [marker]: { type: 'choice', instructions: marker, criteria: { [marker]: marker } } };
    const replies = await Promise.all([
      post(target, 'systemone', { model: 'kev', state: marker, questions }),
      post(target, 'systemone', { model: 'kev', state: marker, questions: { [marker]: { type: 'choice' } } }),
      post(target, 'systemone', { model: marker, state: marker, questions }),
      post(target, 'systemone', `{"model":"kev","state":"${marker}`),
      post(target, 'embeddings', { model: 'text-embed-mini', input: [marker] }),
      post(target, 'embeddings', { model: 'text-embed-mini', input: marker.repeat(1000) }),
      post(target, 'chat/completions', { model: 'none', messages: [{ role: 'user', content: marker }] }),
      post({ ...target, key: foreign }, `models?key=${foreign}`, {}),
      fetch(`${target.address}/${marker}?q=${marker}`, { headers: { cookie: marker } }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 404, 400, 200, 400, 404, 401, 404]);
    // Its line is written after those of the requests before it.
    const last = 'the-last-request';
    await fetch(`${target.address}/ai/v1/models`, { headers: { 'x-request-id': last } });
    await server.waitFor(new RegExp(last));
    expect(server.output).toMatch(/"route":"\/ai\/v1\/systemone","status":200,"durationMs":[\d.]+,.*"keyId":"key_/);
    expect(server.output).not.toContain(marker);
    expect(server.output).not.toContain(target.key);
    for (const line of server.output.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
  });
});

describe('a start with a key in the configuration', () => {
  it('takes it as given, creates none, and shows it nowhere', async () => {
    const key = 'taken-as-given:0123456789';
    const server = new ServerProcess({
      UMPIRE_API_KEY: key,
      UMPIRE_MODELS: 'text-embed-mini',
      UMPIRE_LOG_FORMAT: 'text',
    });
    try {
      const address = await server.ready();
      const reply = await post({ address, key }, 'embeddings', { model: 'text-embed-mini', input: 'hello' });
      expect(reply.status).toBe(200);
      expect(() => server.initialKey()).toThrow('ENOENT');
      expect(await server.stop()).toEqual({ code: 0, signal: null });
      expect(server.output).not.toContain(key);
      expect(server.output).toMatch(/^\d\d:\d\d:\d\d info {2}POST +\/ai\/v1\/embeddings +200 /m);
    } finally {
      await server.dispose();
    }
  });
});

describe('a start that cannot succeed ends and says why', () => {
  const folders: string[] = [];
  let server: ServerProcess;

  afterEach(() => server.dispose());
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  /** @param breakIt changes a copy of a good model folder. @returns the copy */
  function brokenModel(breakIt: (folder: string) => void): string {
    const parent = mkdtempSync(join(tmpdir(), 'umpire-broken-'));
    folders.push(parent);
    const folder = join(parent, 'model');
    cpSync(MODEL, folder, { recursive: true });
    breakIt(folder);
    return folder;
  }

  async function refusal(settings: Record<string, string>, code = 1): Promise<string> {
    server = new ServerProcess(settings);
    expect(await server.exited).toEqual({ code, signal: null });
    await server.dispose();
    return server.output;
  }

  it('when a file of a model is missing', async () => {
    const folder = brokenModel((model) => rmSync(join(model, 'tokenizer.json.gz')));
    expect(await refusal({ UMPIRE_MODELS: folder })).toContain(
      `model folder ${folder}: tokenizer.json: the file is missing`,
    );
  });

  it('when a checksum is wrong', async () => {
    const folder = brokenModel((model) => writeFileSync(join(model, 'golden.json'), '{}'));
    expect(await refusal({ UMPIRE_MODELS: folder })).toContain(
      `model folder ${folder}: golden.json: checksum mismatch`,
    );
  });

  it('when a golden answer is not what the model gives', async () => {
    const folder = brokenModel((model) => {
      const { cases } = readPackedJson(join(model, 'golden.json.gz')) as {
        cases: { embeddings: Record<string, number[]> }[];
      };
      for (const { embeddings } of cases) for (const vector of Object.values(embeddings)) vector.reverse();
      const text = JSON.stringify({ format: 1, cases });
      writeFileSync(join(model, 'golden.json'), text);
      const sum = createHash('sha256').update(text).digest('hex');
      const sums = readFileSync(join(model, 'SHA256SUMS'), 'utf8');
      writeFileSync(join(model, 'SHA256SUMS'), sums.replace(/^.*(?= {2}golden\.json$)/m, sum));
    });
    expect(await refusal({ UMPIRE_MODELS: folder })).toMatch(new RegExp(`${folder}.*golden`));
  });

  it('when there is no model at all', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'umpire-empty-'));
    folders.push(empty);
    expect(await refusal({ UMPIRE_MODELS_DIR: empty })).toContain(
      `The models folder ${empty} holds no folder with a model.json.`,
    );
    expect(await refusal({ UMPIRE_MODELS_DIR: join(empty, 'none') })).toContain('cannot be read: ENOENT');
  });

  it('when the configuration has faults: all of them, with a code that says not to start it again', async () => {
    const output = await refusal({ UMPIRE_PROT: '1', UMPIRE_LOG_LEVEL: 'loud' }, 78);
    expect(output).toContain('UMPIRE_PROT in the environment: no such setting.');
    expect(output).toContain('log.level (environment UMPIRE_LOG_LEVEL)');
  });

  it('when an upstream offers a model that is already there, and ends the workers it had begun', async () => {
    const upstream = { name: 'a', baseUrl: 'http://127.0.0.1:1/v1', models: [{ id: 'text-embed-mini' }] };
    const output = await refusal({ UMPIRE_MODELS: 'text-embed-mini', UMPIRE_UPSTREAMS: JSON.stringify([upstream]) });
    expect(output).toMatch(/^umpire: Two models have the id "text-embed-mini"\.$/m);
  });

  it('when its port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    // Said before anything else: neither store nor models were touched.
    const output = await refusal({ UMPIRE_PORT: String(port), UMPIRE_MODELS: 'text-embed-mini' });
    expect(output).toBe(
      `umpire: Cannot listen on 127.0.0.1, port ${port}: another program uses it. Stop that one, or take another port: \`npm start -- --port ${port + 1}\`, or UMPIRE_PORT=${port + 1}.\n`,
    );
    taken.close();
  });

  it('when its store is of a newer version', async () => {
    server = new ServerProcess({ UMPIRE_MODELS: 'text-embed-mini' });
    await server.ready();
    await server.stop();
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(join(server.dataDir, 'umpire.sqlite'));
    database.exec('INSERT INTO schema_migrations VALUES (99, 0)');
    database.close();
    const again = new ServerProcess({ UMPIRE_DATA_DIR: server.dataDir });
    expect(await again.exited).toEqual({ code: 1, signal: null });
    expect(again.output).toMatch(/schema 99 .* newer umpire/);
    await again.dispose();
  });
});
