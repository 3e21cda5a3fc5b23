// Every way in which the README's commands hear that they are to stop: what was accepted is answered, however often one
// Ctrl-C arrives, and whichever processes stand between the keyboard and the server.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { completion, replyJson } from '../upstream/upstream-answers.ts';
import { type AnswerScript, UpstreamDouble } from '../upstream/upstream-double.ts';
import { LAUNCHER, ROOT, ServerProcess } from './server-process.ts';
import { CTRL_C, hasTerminals, inTerminal } from './terminal.ts';

const KEY = 'a-fixed-key-for-this-test';
const TINY_MODEL = join(ROOT, 'test', 'fixtures', 'tiny-embedding');
/** As far as anything between us and the server may be behind. Too short would let a fault pass, not fail a sound server. */
const REPEAT_LIMIT_MS = 1000;
const STOPPING = /stopping: finishing what was accepted/;
const REPEATED = /the same signal once more/;
/** Makes a Node pretend to be another; a Node it starts does not. */
const PRETEND = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})`;
const NODE_20 = [process.execPath, '--import', PRETEND] as const;

let upstream: UpstreamDouble;
let answer: () => void;
let server: ServerProcess;
/** A folder in which the package seems to be installed, on a host with Node 20. */
let installed: string;

beforeAll(() => {
  installed = mkdtempSync(join(tmpdir(), 'umpire-installed-'));
  const bin = join(installed, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{"name":"somebody","private":true}');
  writeFileSync(join(bin, 'umpire'), `#!/usr/bin/env node\nimport('${pathToFileURL(LAUNCHER)}');\n`, { mode: 0o755 });
  writeFileSync(join(bin, 'node'), `#!/bin/sh\nexec '${NODE_20[0]}' --import '${PRETEND}' "$@"\n`, { mode: 0o755 });
});

afterAll(() => rmSync(installed, { recursive: true }));

beforeEach(async () => {
  let held: Parameters<AnswerScript>;
  upstream = await UpstreamDouble.start((...given) => {
    held = given;
  });
  answer = () => void replyJson(completion())(...held);
});

afterEach(async () => {
  await server.disposeGroup();
  await upstream.close();
});

/** A call that the server has accepted and the upstream has not answered yet. */
interface Call {
  readonly status: Promise<number>;
}

async function startWithCall(command: readonly string[], cwd = ROOT): Promise<Call> {
  server = new ServerProcess(
    {
      UMPIRE_API_KEY: KEY,
      UMPIRE_MODELS: TINY_MODEL,
      UMPIRE_LOG_LEVEL: 'debug',
      UMPIRE_LOG_FORMAT: 'json',
      UMPIRE_UPSTREAMS: JSON.stringify([{ name: 'double', baseUrl: upstream.baseUrl, models: [{ id: 'llama' }] }]),
    },
    command,
    { cwd, ownGroup: true },
  );
  const reply = fetch(`${await server.ready()}/ai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'llama', messages: [] }),
  });
  await Promise.race([upstream.until(() => upstream.runningReplies > 0), reply]);
  reply.catch(() => undefined);
  return { status: reply.then(({ status }) => status) };
}

/** Lets whatever passes the signal on do so, then the upstream answers. */
async function expectDrained({ status }: Call): Promise<void> {
  await server.waitFor(STOPPING);
  await Promise.race([server.waitFor(REPEATED), server.exited, wait(REPEAT_LIMIT_MS)]);
  answer();
  expect(await status).toBe(200);
}

describe.runIf(hasTerminals())('Ctrl-C in a terminal', () => {
  it('drains `npm start`, and ends with 0', async () => {
    const call = await startWithCall(inTerminal('npm start'));
    server.type(CTRL_C);
    await expectDrained(call);
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  it('drains `npx umpire serve` on a host with Node 20', async () => {
    const call = await startWithCall(inTerminal('npx umpire serve'), installed);
    server.type(CTRL_C);
    await expectDrained(call);
    await server.exited;
  });

  it('drains the launcher itself under Node 20, and ends with 0', async () => {
    const words = [...NODE_20, LAUNCHER, 'serve'].map((word) => `'${word}'`);
    const call = await startWithCall(inTerminal(words.join(' ')));
    server.type(CTRL_C);
    await expectDrained(call);
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });
});

describe.runIf(process.platform === 'linux')('a signal', () => {
  const launched = [...NODE_20, LAUNCHER, 'serve'];

  it.each([
    ['SIGINT', 'npm start', ['npm', 'start'], undefined],
    ['SIGTERM', 'npm start', ['npm', 'start'], undefined],
    ['SIGINT', 'npx', ['npx', 'umpire', 'serve'], 'installed'],
    ['SIGTERM', 'npx', ['npx', 'umpire', 'serve'], 'installed'],
    ['SIGINT', 'the launcher under Node 20', launched, undefined],
    ['SIGTERM', 'the launcher under Node 20', launched, undefined],
  ] as const)('%s to the whole group drains %s', async (signal, _name, command, place) => {
    const call = await startWithCall(command, place && installed);
    server.killGroup(signal);
    await expectDrained(call);
    await server.exited;
  });

  // SIGINT to npx alone goes no further than its shell, which waits for us.
  it('SIGTERM to npx alone drains', async () => {
    const call = await startWithCall(['npx', 'umpire', 'serve'], installed);
    server.kill('SIGTERM');
    await expectDrained(call);
    await server.exited;
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('%s to the launcher alone drains', async (signal) => {
    const call = await startWithCall(launched);
    server.kill(signal);
    await expectDrained(call);
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  it('that comes twice at once is one', async () => {
    const call = await startWithCall([process.execPath, LAUNCHER, 'serve']);
    server.kill('SIGINT');
    await server.waitFor(STOPPING);
    server.kill('SIGTERM');
    await server.waitFor(REPEATED);
    answer();
    expect(await call.status).toBe(200);
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });
});

describe.runIf(process.platform === 'linux')('a launcher under Node 20 that is killed', () => {
  it('takes the server with it: port and data folder are free', async () => {
    const call = await startWithCall([...NODE_20, LAUNCHER, 'serve']);
    const address = await server.ready();
    const outcome = call.status.catch(() => 'cut');
    const { dataDir } = server;
    server.kill('SIGKILL');
    expect(await outcome).toBe('cut');
    await server.exited;
    await expect(fetch(`${address}/healthz`)).rejects.toThrow();
    const next = new ServerProcess({
      UMPIRE_DATA_DIR: dataDir,
      UMPIRE_MODELS: TINY_MODEL,
      UMPIRE_PORT: new URL(address).port,
    });
    try {
      expect(await next.ready()).toBe(address);
    } finally {
      await next.dispose();
    }
  });

  it('tells its own end as the server met it', async () => {
    const call = await startWithCall([...NODE_20, LAUNCHER, 'serve']);
    const outcome = call.status.catch(() => 'cut');
    server.kill('SIGTERM');
    await server.waitFor(/a further signal ends the server at once/);
    server.kill('SIGTERM');
    expect(await outcome).toBe('cut');
    expect(await server.exited).toEqual({ code: 1, signal: null });
  });
});
