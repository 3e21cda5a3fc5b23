// Pulls that end before their time: killed, or without room on the disk; and what the next one makes of it.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { createServer } from 'node:tls';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { holdModelLock } from '../../src/runtime/model-folder/model-lock.ts';
import { childEnvironment, type Environment } from '../process/server-process.ts';
import { type FakeHub, startFakeHub } from './fake-hub.ts';
import { filled, ScratchFolders } from './model-tree.ts';
import { fill, mayMount, onSmallDisk } from './small-disk.ts';

const scratch = new ScratchFolders();
const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});
afterAll(() => scratch.dispose());

const BYTES = 12_000_000;
const HALF = BYTES / 2;
const GRAPH = filled(BYTES, 11);
const GRAPH_SUM = createHash('sha256').update(GRAPH).digest('hex');

type News = {
  readonly doneBytes?: number;
  readonly taken?: readonly (readonly [path: string, sha256: string])[];
  readonly failure?: string;
};

interface Surroundings {
  /** A command that starts what follows it. */
  readonly before?: readonly string[];
  readonly env?: Environment;
}

/** The process of `pulling-process.ts`. */
class Puller {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(args: readonly string[], { before = [], env = {} }: Surroundings = {}) {
    const [command = '', ...rest] = [
      ...before,
      process.execPath,
      join(import.meta.dirname, 'pulling-process.ts'),
      ...args,
    ];
    this.child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'], env: childEnvironment(env) });
    const { stdout } = this.child;
    if (stdout === null) throw new Error('It has no output.');
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    ended.push(() => this.kill());
  }

  pull(): void {
    this.child.stdin?.write('pull\n');
  }

  /** @throws when it ends before */
  async waitFor(isIt: (news: News) => boolean): Promise<News> {
    let line = await this.#lines.next();
    while (line.done !== true) {
      const news = JSON.parse(line.value) as News;
      if (isIt(news)) return news;
      line = await this.#lines.next();
    }
    throw new Error('It ended before it said so.');
  }

  async waitForEnd(): Promise<News> {
    return await this.waitFor(({ taken, failure }) => taken !== undefined || failure !== undefined);
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}

async function startHub(): Promise<FakeHub> {
  const fake = await startFakeHub({
    repositories: { 'acme/model': { files: { 'config.json': '{}', 'model.onnx': GRAPH } } },
  });
  ended.push(() => fake.close());
  return fake;
}

describe('a pull that is killed in the middle', () => {
  it('is gone on with by the next process, which transfers the rest alone', async () => {
    const fake = await startHub();
    fake.fail({ on: /^files/, times: 1, stallAfterBytes: HALF });
    const folder = scratch.make();
    const lock = join(scratch.make(), 'lock');
    const first = new Puller([fake.endpoint, folder, lock]);
    first.pull();
    await first.waitFor(({ doneBytes = 0 }) => doneBytes >= HALF);
    await first.kill();
    expect(readdirSync(folder).sort()).toEqual(['config.json', `${GRAPH_SUM}.partial`].sort());

    const asked = fake.requests.length;
    const second = new Puller([fake.endpoint, folder, lock]);
    second.pull();
    expect(await second.waitForEnd()).toEqual({
      taken: [
        ['config.json', createHash('sha256').update('{}').digest('hex')],
        ['model.onnx', GRAPH_SUM],
      ],
    });
    const share = fake.sentBytes(asked) / BYTES;
    process.stdout.write(`Killed in the middle: the second pull transferred ${(share * 100).toFixed(1)} %.\n`);
    expect(share).toBeLessThan(0.6);
    expect(readdirSync(folder).sort()).toEqual(['config.json', 'model.onnx']);
    expect(readFileSync(join(folder, 'model.onnx')).equals(GRAPH)).toBe(true);
  });

  it('holds its lock as long as it lives and no longer', async () => {
    const fake = await startHub();
    fake.fail({ on: /^files/, stallAfterBytes: HALF });
    const lock = join(scratch.make(), 'lock');
    const first = new Puller([fake.endpoint, scratch.make(), lock]);
    first.pull();
    await first.waitFor(({ doneBytes = 0 }) => doneBytes > 0);
    await expect(holdModelLock(lock, 'model')).rejects.toThrow('Somebody else is at work on the model model.');
    await first.kill();
    (await holdModelLock(lock, 'model')).release();
  });
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) process.stderr.write('No openssl here: a hub with a private certificate is not tried.\n');

/** TLS before a hub, with a certificate that nobody knows. @returns its address, and the file of its certificate */
async function hideBehindTls(fake: FakeHub): Promise<{ readonly endpoint: string; readonly authority: string }> {
  const folder = scratch.make();
  const [key, authority] = [join(folder, 'key'), join(folder, 'crt')];
  const names = ['-subj', '/CN=hub', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', authority];
  spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names]);
  const sides: { destroy(): void }[] = [];
  const server = createServer({ key: readFileSync(key), cert: readFileSync(authority) }, (outside) => {
    const inside = connect(Number(new URL(fake.endpoint).port), '127.0.0.1');
    sides.push(outside, inside);
    for (const side of [outside, inside]) side.on('error', () => inside.destroy());
    outside.pipe(inside).pipe(outside);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ended.push(async () => {
    server.close();
    for (const side of sides) side.destroy();
  });
  return { endpoint: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, authority };
}

describe.skipIf(!hasOpenssl)('a hub with a certificate of a private authority', () => {
  it('is trusted when Node is told of the authority, and else says how', async () => {
    const { endpoint, authority } = await hideBehindTls(await startHub());
    const stranger = new Puller([endpoint, scratch.make(), join(scratch.make(), 'lock')]);
    stranger.pull();
    expect((await stranger.waitForEnd()).failure).toMatch(
      /^The certificate of 127\.0\.0\.1:\d+ is not trusted \(.+\)\. That of a private authority belongs into NODE_EXTRA_CA_CERTS\.$/,
    );
    const env = { NODE_EXTRA_CA_CERTS: authority };
    const friend = new Puller([endpoint, scratch.make(), join(scratch.make(), 'lock')], { env });
    friend.pull();
    expect((await friend.waitForEnd()).taken).toContainEqual(['model.onnx', GRAPH_SUM]);
  });
});

/** Room for the file and for what is left alone. */
const DISK_BYTES = 96 * 1024 * 1024;

describe.skipIf(!mayMount('a pull onto a full disk'))('a disk that is full in the middle of a pull', () => {
  it('is told, leaves no file under its name, and is forgotten when there is room again', async () => {
    const fake = await startHub();
    fake.fail({ on: /^files/, times: 1, stallAfterBytes: HALF });
    const folder = scratch.make();
    const puller = new Puller([fake.endpoint, folder, join(scratch.make(), 'lock')], {
      before: onSmallDisk(folder, DISK_BYTES),
    });
    puller.pull();
    await puller.waitFor(({ doneBytes = 0 }) => doneBytes >= HALF);
    // Only the process sees its disk; others through its eyes.
    const seen = join(`/proc/${puller.child.pid}/root`, folder);
    fill(join(seen, 'filler'));
    expect(await puller.waitForEnd()).toEqual({
      failure: `There is no room left in ${folder}. What was taken stays there for the next try.`,
    });
    expect(existsSync(join(seen, 'model.onnx'))).toBe(false);
    expect(statSync(join(seen, `${GRAPH_SUM}.partial`)).size).toBeLessThan(BYTES);

    puller.pull();
    expect((await puller.waitForEnd()).failure).toMatch(/has room for 0\.\d+ MB; \d+ MB are still to come/);

    rmSync(join(seen, 'filler'));
    const asked = fake.requests.length;
    puller.pull();
    expect((await puller.waitForEnd()).taken).toContainEqual(['model.onnx', GRAPH_SUM]);
    expect(fake.sentBytes(asked)).toBeLessThan(BYTES * 0.6);
  });
});
