// `umpire models pull` as it is typed, from a hub on this machine: what is printed and left behind, what an end in the
// middle leaves, and that a server then answers by the model.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, TINY_EMBEDDER, TINY_RERANKER } from '../app/pull/tiny-repository.ts';
import { type FakeHub, startFakeHub } from '../hub/fake-hub.ts';
import { testLogs } from '../log-scan/test-logs.ts';
import { until } from '../waiting/until.ts';
import { type CommandRun, runUmpire } from './run-umpire.ts';
import { childEnvironment, GRAPH_CACHE, LAUNCHER, ROOT, ServerProcess } from './server-process.ts';
import { hasTerminals, inTerminal } from './terminal.ts';

const TOKEN = 'a-token-of-nobody-4711';
/** More than one read of a socket, so that there is a middle. */
const PADDED_BYTES = 4_000_000;

const root = mkdtempSync(join(tmpdir(), 'umpire-models-pull-'));
const weights = TINY_RERANKER['onnx/model.onnx_data'] ?? '';
const LARGE = {
  ...TINY_RERANKER,
  'onnx/model.onnx_data': Buffer.concat([Buffer.from(weights), Buffer.alloc(PADDED_BYTES)]),
};
let hub: FakeHub;
let folders = 0;

beforeAll(async () => {
  testLogs.keepSecret(TOKEN);
  hub = await startFakeHub({
    repositories: {
      'acme/embedder': { files: TINY_EMBEDDER, info: { cardData: { license: 'mit' } } },
      'acme/reranker': { files: LARGE, info: { cardData: { license: 'apache-2.0' } } },
      'acme/closed': { files: TINY_EMBEDDER, info: { cardData: { license: 'gemma' } } },
      'acme/secret': { files: TINY_EMBEDDER, access: 'private', info: { cardData: { license: 'mit' } } },
    },
    tokens: { [TOKEN]: ['acme/secret'] },
  });
});

afterAll(async () => {
  await hub.close();
  rmSync(root, { recursive: true, force: true });
});

function place(): { dataDir: string; env: Record<string, string> } {
  folders += 1;
  const dataDir = join(root, `data-${folders}`);
  const home = join(root, `home-${folders}`);
  const env = {
    UMPIRE_DATA_DIR: dataDir,
    UMPIRE_ENGINE_CACHE_DIR: GRAPH_CACHE,
    HF_ENDPOINT: hub.endpoint,
    HF_HOME: home,
    HOME: home,
    NO_PROXY: '127.0.0.1',
  };
  return { dataDir, env };
}

const umpire = (args: readonly string[], env: Record<string, string>): Promise<CommandRun> =>
  runUmpire(args, { cwd: ROOT, env });

/** All files below it, as one text. */
function contentOf(folder: string): string {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  return paths
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

describe('umpire models pull', () => {
  it('says what it read and where, and leaves a model that a server answers by', async () => {
    const { dataDir, env } = place();
    const { code, out, error } = await umpire(['models', 'pull', 'acme/embedder'], { ...env, HF_TOKEN: TOKEN });
    expect(code).toBe(0);
    expect(error).toContain('Asking the int8 graph the probe set');
    expect(out).toMatch(/^licence +MIT$/m);
    expect(out).toMatch(/^pooling +mean +1_Pooling\/config.json: pooling_mode_mean_tokens$/m);
    expect(out).toContain('Pulled: embedder. A server takes it at its next start.');
    expect(contentOf(dataDir)).not.toContain(TOKEN);

    const server = new ServerProcess({ ...env, UMPIRE_MODELS: 'embedder' });
    try {
      const address = await server.ready();
      const headers = { authorization: `Bearer ${readKey(dataDir)}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ model: 'embedder', input: 'a text' });
      const reply = await fetch(`${address}/ai/v1/embeddings`, { method: 'POST', headers, body });
      const { data } = (await reply.json()) as { data: { embedding: number[] }[] };
      expect(Math.hypot(...(data[0]?.embedding ?? []))).toBeCloseTo(1);
    } finally {
      await server.dispose();
    }
  });

  it('fetches nothing of what is never run, and nothing twice', async () => {
    const { env } = place();
    const asked = hub.requests.length;
    await umpire(['models', 'pull', 'acme/embedder', '--json'], env);
    const lines = hub.requests
      .slice(asked)
      .map(({ line }) => line)
      .join('\n');
    expect(lines).toContain('model_quantized.onnx');
    expect(lines).not.toMatch(/pytorch_model|modeling_tiny|README/);
    const before = hub.requests.length;
    const again = await umpire(['models', 'pull', 'acme/embedder'], env);
    expect(again).toMatchObject({ code: 0, error: '' });
    expect(again.out).toContain('is here already, at commit');
    expect(hub.requests.slice(before).some(({ line }) => line.includes('/resolve/'))).toBe(false);
  });

  it('says what the model here was made with where other options are given, and makes it anew when told so', async () => {
    const { env } = place();
    await umpire(['models', 'pull', 'acme/embedder', '--max-tokens', '100'], env);
    expect(await umpire(['models', 'pull', 'acme/embedder', '--max-tokens', '100'], env)).toMatchObject({ code: 0 });
    const other = ['models', 'pull', 'acme/embedder', '--pooling', 'cls', '--precision', 'fp32'];
    const refused = await umpire(other, env);
    expect(refused.code).toBe(1);
    expect(refused.error).toContain(
      'embedder is here already, at this commit, but made otherwise: --pooling cls (made with mean), --precision fp32 (made with fp32, int8). Add --replace',
    );
    const { code, out } = await umpire([...other, '--replace'], env);
    expect(code).toBe(0);
    expect(out).toMatch(/^pooling +cls +--pooling$/m);
    expect(out).toContain('Replaced: embedder.');
  });

  it('goes on where kill -9 has cut it off', async () => {
    const { dataDir, env } = place();
    hub.fail({ on: /^files GET .*/, times: 1, stallAfterBytes: PADDED_BYTES / 2 });
    const child = start(['models', 'pull', 'acme/reranker'], env);
    const staging = join(dataDir, 'models', '.pull-reranker');
    await until('half of the file to be there', () => sizeBelow(staging) > PADDED_BYTES / 4);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(existsSync(join(dataDir, 'models', 'reranker'))).toBe(false);
    const asked = hub.requests.length;
    const { code } = await umpire(['models', 'pull', 'acme/reranker'], env);
    expect(code).toBe(0);
    expect(hub.sentBytes(asked)).toBeLessThan(PADDED_BYTES);
    expect(readdirSync(join(dataDir, 'models')).sort()).toEqual(['.locks', 'reranker']);
  });

  it('is stopped by Ctrl-C, and is alone with its model meanwhile', async () => {
    const { dataDir, env } = place();
    hub.fail({ on: /^files GET .*/, times: 1, stallAfterBytes: PADDED_BYTES / 2 });
    const child = start(['models', 'pull', 'acme/reranker'], env);
    const error = text(child.stderr ?? process.stdin);
    await until('the first bytes to be there', () => sizeBelow(join(dataDir, 'models', '.pull-reranker')) > 100_000);
    const second = await umpire(['models', 'pull', 'acme/reranker'], env);
    expect(second.code).toBe(1);
    expect(second.error).toContain('Somebody else is at work on the model reranker');
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
    expect(await error).toContain('What was fetched stays; the same command goes on.');
    expect((await umpire(['models', 'pull', 'acme/reranker', '--json'], env)).code).toBe(0);
  });

  it('is refused in words: a licence, a private repository, one that is not there, a mistake', async () => {
    const { dataDir, env } = place();
    const closed = await umpire(['models', 'pull', 'acme/closed'], env);
    expect(closed).toMatchObject({ code: 1, error: expect.stringContaining('add --accept-licence') });
    const secret = await umpire(['models', 'pull', 'acme/secret', '--json'], env);
    expect(JSON.parse(secret.error)).toMatchObject({ error: { code: 'hub_failed' } });
    const absent = await umpire(['models', 'pull', 'acme/absent'], env);
    expect(absent.code).toBe(1);
    const wrong = await umpire(['models', 'pull', 'acme/embedder', '--pooling', 'max'], env);
    expect(wrong).toMatchObject({ code: 2, error: expect.stringContaining('--pooling takes one of cls, mean, last') });
    const shipped = await umpire(['models', 'pull', 'acme/embedder', '--id', 'kev'], env);
    expect(shipped.error).toContain('another id with --id');
    const offline = await umpire(['models', 'pull', 'acme/embedder', '--offline'], env);
    expect(offline.error).toContain('acme/embedder is not in the cache');
    expect(readdirSync(join(dataDir, 'models')).filter((name) => !name.startsWith('.'))).toEqual([]);
    const taken = await umpire(['models', 'pull', 'acme/closed', '--accept-licence', '--json'], env);
    expect(JSON.parse(taken.out)).toMatchObject({ licence: 'gemma', licence_accepted: /^\d{4}-/ });
  });

  it('takes the place of an older commit at once', async () => {
    const { env } = place();
    await umpire(['models', 'pull', 'acme/embedder', '--id', 'mine', '--json'], env);
    hub.push('acme/embedder', { ...TINY_EMBEDDER, '1_Pooling/config.json': json({ pooling_mode: 'cls' }) });
    const { out } = await umpire(['models', 'pull', 'acme/embedder', '--id', 'mine'], env);
    expect(out).toContain('Replaced: mine.');
    const shown = await umpire(['models', 'inspect', 'mine', '--json'], env);
    expect(JSON.parse(shown.out).recipe).toContainEqual(expect.objectContaining({ what: 'pooling', value: 'cls' }));
  });

  it.skipIf(!hasTerminals())('draws its progress on a terminal, and leaves a clean line', async () => {
    const env = { ...place().env, COLUMNS: '120' };
    const [file = '', ...args] = inTerminal(`${process.execPath} ${LAUNCHER} models pull acme/reranker`);
    const child = spawn(file, args, { cwd: ROOT, env: childEnvironment(env), stdio: ['ignore', 'pipe', 'pipe'] });
    const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
    expect(printed).toMatch(/█+░* \d\.\d MB of 4\.0 MB \(\d+ %\)/);
    expect(printed).toContain('\r\u001b[K');
    expect(printed).toContain('Pulled: reranker.');
  });
});

describe('umpire models inspect and remove', () => {
  it('show what a pull would do, what is here, and let go of it', async () => {
    const { dataDir, env } = place();
    const plan = await umpire(['models', 'inspect', 'acme/reranker'], env);
    expect(plan).toMatchObject({ code: 0, error: '' });
    expect(plan.out).toMatch(/^onnx\/model.onnx_data +4.0 MB$/m);
    expect(existsSync(join(dataDir, 'models'))).toBe(false);
    await umpire(['models', 'pull', 'acme/reranker', '--json'], env);
    const listed = await umpire(['models', 'list'], env);
    expect(listed.out).toMatch(/^reranker +reranker +Apache-2.0 +acme\/reranker at [0-9a-f]{12} /m);
    const verified = await umpire(['models', 'verify', join(dataDir, 'models', 'reranker')], env);
    expect(verified.out).toMatch(/^ok {2}reranker {2}sha256:/);
    const unsure = await umpire(['models', 'remove', 'reranker'], env);
    expect(unsure).toMatchObject({ code: 2, error: expect.stringContaining('Add --yes') });
    const kev = await umpire(['models', 'remove', 'kev', '--yes'], env);
    expect(kev).toMatchObject({ code: 1, error: expect.stringContaining('it stays') });
    const removed = await umpire(['models', 'remove', 'reranker', '--yes'], env);
    expect(removed.out).toMatch(/^Removed: .*\/models\/reranker, 4\.0 MB\.$/m);
    expect(readdirSync(join(dataDir, 'models'))).toEqual(['.locks']);
  });

  it('leave nothing behind after Ctrl-C', async () => {
    const { env } = place();
    const scratch = mkdtempSync(join(root, 'scratch-'));
    hub.fail({ on: /resolve-cache.*tokenizer.json/, times: 1, stallAfterBytes: 100 });
    const child = start(['models', 'inspect', 'acme/embedder'], { ...env, TMPDIR: scratch });
    const error = text(child.stderr ?? process.stdin);
    await until('the first bytes to be there', () => sizeBelow(scratch) > 100);
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
    expect(await error).toBe('umpire: Stopped.\n');
    expect(readdirSync(scratch)).toEqual([]);
  });
});

function start(args: readonly string[], env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [LAUNCHER, ...args], {
    cwd: ROOT,
    env: childEnvironment(env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

function sizeBelow(folder: string): number {
  if (!existsSync(folder)) return 0;
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

function readKey(dataDir: string): string {
  const key = readFileSync(join(dataDir, 'initial-key'), 'utf8').trim();
  testLogs.keepSecret(key);
  return key;
}
