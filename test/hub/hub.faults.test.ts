// What is pulled from a hub that fails: connections that break, answers that lie, limits, addresses that expire.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { HubSettings } from '../../src/hub/hub.ts';
import type { ModelFiles, TakeProgress } from '../../src/hub/model-files.ts';
import { until } from '../waiting/until.ts';
import type { FakeHub, Fault } from './fake-hub.ts';
import { filled, ScratchFolders } from './model-tree.ts';
import { openFake, type PulledHub } from './open-fake.ts';

const scratch = new ScratchFolders();
afterAll(() => scratch.dispose());

const open: PulledHub[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const BYTES = 3_000_000;
const GRAPH = filled(BYTES, 5);
const GRAPH_SUM = createHash('sha256').update(GRAPH).digest('hex');
const CONFIG = '{"model_type": "bert"}\n';
const TREE = { 'config.json': CONFIG, 'model.onnx': GRAPH };
const FILE = /^files GET/;
const SMALL = /^hub GET .*resolve-cache/;
const ASKED = /^hub GET .*\/resolve\//;

interface Pulled extends PulledHub {
  readonly model: ModelFiles;
  readonly folder: string;
  readonly progress: TakeProgress[];
  take(...paths: string[]): Promise<void>;
}

async function pull(faults: readonly Fault[], settings?: Partial<HubSettings>): Promise<Pulled> {
  const pulled = await openFake({ repositories: { 'acme/model': { files: TREE } } }, settings);
  open.push(pulled);
  const model = await pulled.hub.describe({ repo: 'acme/model', revision: 'main' });
  for (const fault of faults) pulled.fake.fail(fault);
  const folder = scratch.make();
  const progress: TakeProgress[] = [];
  return {
    ...pulled,
    model,
    folder,
    progress,
    async take(...paths) {
      await model.take(paths, { folder, onProgress: (news) => progress.push(news) });
    },
  };
}

function expectGraph({ folder }: Pulled): void {
  expect(readFileSync(join(folder, 'model.onnx')).equals(GRAPH)).toBe(true);
  expect(readdirSync(folder)).toEqual(['model.onnx']);
}

/** What was asked for of the host of files, one each. */
function ranges({ requests }: FakeHub): (string | undefined)[] {
  return requests.filter(({ origin }) => origin === 'files').map(({ headers }) => headers.range);
}

describe('a body that is cut', () => {
  it('is gone on with where it ended', async () => {
    const pulled = await pull([{ on: FILE, times: 2, cutAfterBytes: 1_200_000 }]);
    await pulled.take('model.onnx');
    expectGraph(pulled);
    const [first, ...rest] = ranges(pulled.fake);
    expect(first).toBeUndefined();
    expect(rest).toHaveLength(2);
    expect(pulled.fake.sentBytes()).toBeLessThan(BYTES * 1.5);
    expect(pulled.waits).toEqual([1000, 1000]);
    expect(pulled.progress.at(-1)).toMatchObject({ doneBytes: BYTES, totalBytes: BYTES });
  });

  it('is waited for longer and longer, and given up in the end; what came stays', async () => {
    const pulled = await pull([{ on: FILE, cutAfterBytes: 100_000 }]);
    await expect(pulled.take('model.onnx')).rejects.toThrow(/^127\.0\.0\.1:\d+ .*It was tried 5 times\.$/);
    expect(pulled.waits).toEqual([1000, 2000, 4000, 8000]);
    expect(readdirSync(pulled.folder)).toEqual([`${GRAPH_SUM}.partial`]);
    expect(statSync(join(pulled.folder, `${GRAPH_SUM}.partial`)).size).toBeGreaterThan(0);
    expect(pulled.progress.map(({ waitSeconds }) => waitSeconds)).toContain(8);
  });

  it('that stalls is broken off and gone on with', async () => {
    const pulled = await pull([{ on: FILE, times: 1, stallAfterBytes: 1_000_000 }], { stallTimeoutMs: 1000 });
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(ranges(pulled.fake)).toHaveLength(2);
  });

  it('may end before its head: the answer is waited for no longer than was said', async () => {
    const pulled = await pull([{ on: ASKED, times: 1, stallAfterBytes: 0, headers: { 'content-length': '9' } }], {
      answerTimeoutMs: 1000,
      stallTimeoutMs: 1000,
    });
    await pulled.take('model.onnx');
    expectGraph(pulled);
  });
});

describe('a range', () => {
  const half = BYTES / 2;

  async function pullOn(found: Uint8Array, faults: readonly Fault[]): Promise<Pulled> {
    const pulled = await pull(faults);
    writeFileSync(join(pulled.folder, `${GRAPH_SUM}.partial`), found);
    return pulled;
  }

  it('is asked for where an earlier process ended', async () => {
    const pulled = await pullOn(GRAPH.subarray(0, half), []);
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(ranges(pulled.fake)).toEqual([`bytes=${half}-`]);
    expect(pulled.fake.sentBytes()).toBeLessThan(half + 10_000);
    expect(pulled.progress[0]).toMatchObject({ doneBytes: half, bytesPerSecond: undefined });
  });

  it('that is ignored brings the whole file', async () => {
    const pulled = await pullOn(GRAPH.subarray(0, half), [{ on: FILE, ignoresRange: true }]);
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(pulled.progress.at(-1)).toMatchObject({ doneBytes: BYTES, totalBytes: BYTES });
  });

  it('that cannot be given makes it begin again', async () => {
    const pulled = await pullOn(GRAPH.subarray(0, half), [{ on: FILE, times: 1, status: 416 }]);
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(ranges(pulled.fake)).toEqual([`bytes=${half}-`, undefined]);
  });

  it('that is another one than was asked for is refused', async () => {
    const pulled = await pullOn(GRAPH.subarray(0, half), [
      { on: FILE, headers: { 'content-range': `bytes 0-${BYTES - 1}/${BYTES}` } },
    ]);
    await expect(pulled.take('model.onnx')).rejects.toThrow('another part of it came than was asked for');
  });

  it('is none where everything is there already', async () => {
    const pulled = await pullOn(GRAPH, []);
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(ranges(pulled.fake)).toEqual([]);
  });

  it('is none where more is there than the file has', async () => {
    const pulled = await pullOn(Buffer.concat([GRAPH, GRAPH.subarray(0, 10)]), []);
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(ranges(pulled.fake)).toEqual([undefined]);
  });

  it('behind bytes that were spoilt is seen at the end, and the file brought whole', async () => {
    const spoilt = Buffer.from(GRAPH.subarray(0, half));
    spoilt.fill(0, 1000, 2000);
    const pulled = await pullOn(spoilt, []);
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(ranges(pulled.fake)).toEqual([`bytes=${half}-`, undefined]);
    expect(pulled.progress.at(-1)).toMatchObject({ doneBytes: BYTES, totalBytes: BYTES });
  });
});

describe('other bytes than those of the list', () => {
  const wrong = Buffer.from(GRAPH);
  wrong.writeUInt8((wrong.at(-1) ?? 0) ^ 1, BYTES - 1);

  it('are refused by their SHA-256, and nothing of them stays', async () => {
    const pulled = await pull([{ on: FILE, body: wrong }]);
    await expect(pulled.take('model.onnx')).rejects.toThrow(
      `"model.onnx" came from ${pulled.fake.endpoint} with other bytes than its list of files names (sha256).`,
    );
    expect(readdirSync(pulled.folder)).toEqual([]);
  });

  it('are refused by their sum in git', async () => {
    const pulled = await pull([{ on: SMALL, body: CONFIG.replace('bert', 'evil') }]);
    await expect(pulled.take('config.json')).rejects.toThrow(
      'with other bytes than its list of files names (git-sha1).',
    );
    expect(readdirSync(pulled.folder)).toEqual([]);
  });

  it.each([
    ['too many', Buffer.concat([GRAPH, GRAPH])],
    ['too few', GRAPH.subarray(0, 1000)],
  ])('are refused by their number: %s', async (_name, body) => {
    const pulled = await pull([{ on: FILE, body }]);
    await expect(pulled.take('model.onnx')).rejects.toThrow(`it has ${body.length} bytes instead of ${BYTES}`);
  });

  it('are refused as they come where nobody says how many there are', async () => {
    const pulled = await pull([{ on: FILE, body: Buffer.concat([GRAPH, GRAPH]), headers: { 'content-length': '' } }]);
    await expect(pulled.take('model.onnx')).rejects.toThrow('"model.onnx" goes on after its end.');
  });

  it('are refused before they come where the hub itself says so', async () => {
    const other = 'f'.repeat(64);
    const named = await pull([{ on: ASKED, headers: { 'x-linked-etag': `"${other}"` } }]);
    await expect(named.take('model.onnx')).rejects.toThrow('it has another sum');
    const moved = await pull([{ on: ASKED, headers: { 'x-repo-commit': '0'.repeat(40) } }]);
    await expect(moved.take('model.onnx')).rejects.toThrow('it is of another commit');
    const grown = await pull([{ on: ASKED, headers: { 'x-linked-size': '7' } }]);
    await expect(grown.take('model.onnx')).rejects.toThrow(`it has 7 bytes instead of ${BYTES}`);
    for (const { folder } of [named, moved, grown]) expect(statSync(join(folder, `${GRAPH_SUM}.partial`)).size).toBe(0);
  });

  it('are refused where they come packed', async () => {
    const pulled = await pull([{ on: SMALL, headers: { 'content-encoding': 'gzip' } }]);
    await expect(pulled.take('config.json')).rejects.toThrow('it is packed (gzip), though that was not asked for');
  });
});

describe('a hub that wants patience', () => {
  it('is asked again when its window has ended', async () => {
    const pulled = await pull([{ on: ASKED, times: 1, status: 429, headers: { ratelimit: '"resolvers";r=0;t=55' } }]);
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(pulled.waits).toEqual([56_000]);
    expect(pulled.progress.map(({ waitSeconds }) => waitSeconds)).toContain(56);
  });

  it('is asked again when a mirror says', async () => {
    const pulled = await pull([{ on: ASKED, times: 1, status: 429, headers: { 'retry-after': '7' } }]);
    await pulled.take('model.onnx');
    expect(pulled.waits).toEqual([7000]);
  });

  it('is not waited for longer than ten minutes', async () => {
    const pulled = await pull([{ on: ASKED, status: 429, headers: { 'retry-after': '86400' } }]);
    await expect(pulled.take('model.onnx')).rejects.toThrow(
      `${pulled.fake.endpoint} has had too many requests from here (status 429). It asks for 86400 s of patience.`,
    );
    expect(pulled.waits).toEqual([]);
  });

  it.each([408, 500, 502, 503, 504])('is asked again after two answers with status %i', async (status) => {
    const pulled = await pull([{ on: ASKED, times: 2, status }]);
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(pulled.waits).toEqual([1000, 2000]);
  });

  it('is asked for its list again too', async () => {
    const { fake, hub, waits, ...rest } = await openFake({ repositories: { 'acme/model': { files: TREE } } });
    open.push({ fake, hub, waits, ...rest });
    fake.fail({ on: /revision/, times: 2, status: 503 });
    fake.fail({ on: /tree/, times: 1, cutAfterBytes: 10 });
    fake.fail({ on: /tree/, times: 1, status: 429, headers: { ratelimit: '"api";r=0;t=3' } });
    expect((await hub.describe({ repo: 'acme/model', revision: 'main' })).files).toHaveLength(2);
    expect(waits).toEqual([1000, 2000, 1000, 4000]);
  });

  it('is given up after five tries', async () => {
    const pulled = await pull([{ on: ASKED, status: 503 }]);
    await expect(pulled.take('model.onnx')).rejects.toThrow(
      `${pulled.fake.endpoint} is not well (status 503). It was tried 5 times.`,
    );
  });
});

describe('an address that has expired', () => {
  it('is asked for anew, and the file gone on with', async () => {
    const pulled = await pull([]);
    pulled.fake.fail({ on: FILE, times: 1, cutAfterBytes: 1_500_000 });
    pulled.fake.fail({ on: FILE, times: 1, before: () => pulled.fake.expireAddresses() });
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(pulled.waits).toEqual([1000, 0]);
    expect(pulled.fake.requests.filter(({ line }) => /\/resolve\//.test(line))).toHaveLength(3);
  });

  it('is given up where every new one is refused too, and its signature is in no message', async () => {
    const pulled = await pull([{ on: FILE, status: 403 }]);
    const failure = await pulled.take('model.onnx').catch((error: Error) => error.message);
    expect(failure).toMatch(
      /^127\.0\.0\.1:\d+ refuses the address that the hub gave \(status 403\)\. It was tried 5 times\.$/,
    );
  });
});

describe('a redirect', () => {
  it('without an end, or to nowhere, is given up', async () => {
    const circle = await pull([{ on: ASKED, status: 302, headers: { location: '/acme/model/resolve/x/y' } }]);
    await expect(circle.take('model.onnx')).rejects.toThrow('sends from address to address without an end');
    for (const location of ['', 'file:///etc/passwd', 'http://[', 'javascript:0']) {
      const nowhere = await pull([{ on: ASKED, status: 302, headers: { location } }]);
      await expect(nowhere.take('model.onnx')).rejects.toThrow('redirects to nowhere');
    }
  });
});

describe('a signal', () => {
  it('ends it in the middle of a file, with its reason, and what came stays', async () => {
    const stop = new AbortController();
    const pulled = await pull([{ on: FILE, times: 1, stallAfterBytes: 2_000_000 }]);
    const partial = join(pulled.folder, `${GRAPH_SUM}.partial`);
    const taking = pulled.model.take(['model.onnx'], { folder: pulled.folder, signal: stop.signal });
    const ended = expect(taking).rejects.toThrow('enough');
    await until('the half is there', () => existsSync(partial) && statSync(partial).size === 2_000_000);
    stop.abort(new Error('enough'));
    await ended;
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(ranges(pulled.fake)).toEqual([undefined, 'bytes=2000000-']);
  });

  it('ends it before it has begun, and while it waits', async () => {
    const pulled = await pull([{ on: ASKED, status: 503 }]);
    const folder = scratch.make();
    const before = pulled.model.take(['model.onnx'], { folder, signal: AbortSignal.abort(new Error('never')) });
    await expect(before).rejects.toThrow('never');
    const stop = new AbortController();
    const onProgress = (): void => stop.abort(new Error('while it waits'));
    const waiting = pulled.model.take(['model.onnx'], { folder, signal: stop.signal, onProgress });
    await expect(waiting).rejects.toThrow('while it waits');
  });
});

describe('a folder', () => {
  it('that cannot hold the files is told before anything comes', async () => {
    const pulled = await openFake({
      repositories: { 'acme/model': { files: TREE } },
    });
    open.push(pulled);
    // As the list has it: nobody has that many.
    pulled.fake.fail({
      on: /tree/,
      body: JSON.stringify([
        { type: 'file', path: 'model.onnx', size: 9e15, oid: '0'.repeat(40), lfs: { oid: GRAPH_SUM, size: 9e15 } },
      ]),
    });
    const model = await pulled.hub.describe({ repo: 'acme/model', revision: 'main' });
    const folder = scratch.make();
    await expect(model.take(['model.onnx'], { folder })).rejects.toThrow(
      /has room for \d+ MB; 9000000000 MB are still to come/,
    );
    expect(readdirSync(folder)).toEqual([]);
    expect(pulled.fake.requests.filter(({ line }) => line.includes('resolve'))).toEqual([]);
  });

  it('with a partial file that somebody made shorter is gone on with from there', async () => {
    const pulled = await pull([{ on: FILE, times: 5, cutAfterBytes: 500_000 }]);
    await expect(pulled.take('model.onnx')).rejects.toThrow('It was tried 5 times.');
    truncateSync(join(pulled.folder, `${GRAPH_SUM}.partial`), 777);
    await pulled.take('model.onnx');
    expectGraph(pulled);
    expect(ranges(pulled.fake).at(-1)).toBe('bytes=777-');
  });
});
