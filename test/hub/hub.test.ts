// What is pulled from a hub that does what it should: commits, lists, files, tokens.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { HubSettings } from '../../src/hub/hub.ts';
import type { TakeProgress } from '../../src/hub/model-files.ts';
import type { FakeHubOptions } from './fake-hub.ts';
import { filled, ScratchFolders, SMALL_TREE, type Tree } from './model-tree.ts';
import { openFake, type PulledHub } from './open-fake.ts';

const scratch = new ScratchFolders();
afterAll(() => scratch.dispose());

const open: PulledHub[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function pullFrom(options: FakeHubOptions, settings?: Partial<HubSettings>): Promise<PulledHub> {
  const pulled = await openFake(options, settings);
  open.push(pulled);
  return pulled;
}

const NAMED = { repo: 'acme/model', revision: 'main' };
const TOKEN = 'not-hf-but-a-token-all-the-same';
const paths = Object.keys(SMALL_TREE);
const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

function expectTree(folder: string, tree: Tree): void {
  for (const [path, content] of Object.entries(tree))
    expect(readFileSync(join(folder, path)).equals(Buffer.from(content)), path).toBe(true);
}

describe('a repository', () => {
  it('is its commit, its facts and its files', async () => {
    const info = { cardData: { license: 'other', license_name: 'acme-1', license_link: 'https://acme.example/l' } };
    const { fake, hub } = await pullFrom({ repositories: { 'acme/model': { files: SMALL_TREE, info } } });
    const commit = fake.push('acme/model', SMALL_TREE);
    const model = await hub.describe(NAMED);
    expect(model.origin).toEqual({ endpoint: fake.endpoint, repo: 'acme/model', commit });
    expect(model.description).toBe(`acme/model at ${commit.slice(0, 12)} of ${fake.endpoint}`);
    expect(model.facts).toEqual({
      licence: 'other',
      licenceName: 'acme-1',
      licenceLink: 'https://acme.example/l',
      isGated: false,
      isPrivate: false,
      tags: [],
    });
    expect(model.files.map(({ path, bytes, hash, fault }) => [path, bytes, hash?.algorithm, fault])).toEqual([
      ['README.md', 61, 'git-sha1', undefined],
      ['config.json', 23, 'git-sha1', undefined],
      ['onnx/model.onnx', 300_000, 'sha256', undefined],
    ]);
  });

  it('gives its files, verified, with our own sum of each', async () => {
    const { hub } = await pullFrom({ repositories: { 'acme/model': { files: SMALL_TREE } } });
    const folder = join(scratch.make(), 'pull');
    const progress: TakeProgress[] = [];
    const taken = await (await hub.describe(NAMED)).take(paths, { folder, onProgress: (news) => progress.push(news) });
    expect(taken).toEqual(
      paths.map((path) => ({
        path,
        localPath: join(folder, path),
        bytes: SMALL_TREE[path]?.length,
        sha256: sha256(SMALL_TREE[path] ?? ''),
      })),
    );
    expectTree(folder, SMALL_TREE);
    expect(readdirSync(folder).sort()).toEqual(['README.md', 'config.json', 'onnx']);
    expect(progress.at(-1)).toMatchObject({ path: 'onnx/model.onnx', doneBytes: 300_084, totalBytes: 300_084 });
  });

  it('is served from a folder too, with files of no bytes', async () => {
    const tree = { ...SMALL_TREE, 'empty.json': '', 'onnx/empty.onnx': '' };
    const { hub } = await pullFrom({ repositories: { 'acme/model': { files: scratch.make(tree) } } });
    const folder = scratch.make();
    await (await hub.describe(NAMED)).take(Object.keys(tree), { folder });
    expectTree(folder, tree);
  });

  it('takes again what was there, without asking for it', async () => {
    const { fake, hub } = await pullFrom({ repositories: { 'acme/model': { files: SMALL_TREE } } });
    const folder = scratch.make();
    const model = await hub.describe(NAMED);
    const first = await model.take(paths, { folder });
    const asked = fake.requests.length;
    expect(await model.take(paths, { folder })).toEqual(first);
    expect(fake.requests).toHaveLength(asked);
  });

  it('is brought again where what lies there has the size and not the bytes', async () => {
    const { hub } = await pullFrom({ repositories: { 'acme/model': { files: SMALL_TREE } } });
    const folder = scratch.make();
    const model = await hub.describe(NAMED);
    writeFileSync(join(folder, 'config.json'), 'x'.repeat(23));
    await model.take(['config.json'], { folder });
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe(SMALL_TREE['config.json']);
  });

  it('stays the commit that it was, whatever is pushed meanwhile', async () => {
    const { fake, hub } = await pullFrom({ repositories: { 'acme/model': { files: SMALL_TREE } } });
    const folder = scratch.make();
    const model = await hub.describe(NAMED);
    await model.take(['config.json'], { folder });
    const pushed = fake.push('acme/model', { ...SMALL_TREE, 'onnx/model.onnx': filled(300_000, 9) });
    await model.take(paths, { folder });
    expectTree(folder, SMALL_TREE);
    expect((await hub.describe(NAMED)).origin?.commit).toBe(pushed);
    expect(fake.requests.filter(({ line }) => line.includes('/resolve/main'))).toEqual([]);
  });

  it('can be asked for by a commit', async () => {
    const { fake, hub } = await pullFrom({ repositories: { 'acme/model': { files: SMALL_TREE } } });
    const commit = fake.push('acme/model', { 'config.json': 'first' });
    fake.push('acme/model', { 'config.json': 'second' });
    const folder = scratch.make();
    const model = await hub.describe({ repo: 'acme/model', revision: commit });
    await model.take(['config.json'], { folder });
    expectTree(folder, { 'config.json': 'first' });
  });

  it('is read to its last page', async () => {
    const many = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`file-${index}.json`, String(index)]));
    const { fake, hub } = await pullFrom({ repositories: { 'acme/model': { files: many } }, pageSize: 3 });
    const model = await hub.describe(NAMED);
    expect(model.files.map(({ path }) => path)).toEqual(Object.keys(many));
    expect(fake.requests.filter(({ line }) => line.includes('/tree/'))).toHaveLength(3);
  });

  it('has paths with every character that git allows', async () => {
    const tree = { 'a b/ü#100%&+.json': 'odd', "it's [one] (more)!.json": 'odd too' };
    const { hub } = await pullFrom({ repositories: { 'acme/model': { files: tree } } });
    const folder = scratch.make();
    await (await hub.describe(NAMED)).take(Object.keys(tree), { folder });
    expectTree(folder, tree);
  });

  it('has files that cannot lie on every machine: they are listed, and refused when they are asked for', async () => {
    const { hub } = await pullFrom({
      repositories: { 'acme/model': { files: { 'aux.json': '', 'config.json': '' } } },
    });
    const model = await hub.describe(NAMED);
    await expect(model.take(['config.json', 'aux.json'], { folder: scratch.make() })).rejects.toThrow(
      'The file "aux.json" cannot be taken: its name is one of a device on Windows.',
    );
  });
});

describe('a token', () => {
  const repositories = { 'acme/model': { files: SMALL_TREE, access: 'private' } } as const;

  it('goes to the hub and not to the host of its files', async () => {
    const { fake, hub } = await pullFrom({ repositories, tokens: { [TOKEN]: ['acme/model'] } }, { token: TOKEN });
    const model = await hub.describe(NAMED);
    expect(model.facts.isPrivate).toBe(true);
    await model.take(paths, { folder: scratch.make() });
    const toHub = fake.requests.filter(({ origin }) => origin === 'hub');
    const toFiles = fake.requests.filter(({ origin }) => origin === 'files');
    expect(toHub.map(({ headers }) => headers.authorization)).toEqual(toHub.map(() => `Bearer ${TOKEN}`));
    expect(toFiles.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('stays with a request to a repository that was renamed', async () => {
    const { fake, hub } = await pullFrom({ repositories, tokens: { [TOKEN]: ['acme/model'] } }, { token: TOKEN });
    fake.rename('acme/old', 'acme/model');
    const model = await hub.describe({ repo: 'acme/old', revision: 'main' });
    expect(model.origin?.repo).toBe('acme/model');
    const folder = scratch.make();
    await model.take(paths, { folder });
    expectTree(folder, SMALL_TREE);
  });

  it('is not sent again once a redirect has led away, even where it leads back', async () => {
    const { fake, hub } = await pullFrom({ repositories, tokens: { [TOKEN]: ['acme/model'] } }, { token: TOKEN });
    const model = await hub.describe(NAMED);
    fake.fail({ on: /^files/, status: 302, headers: { location: `${fake.endpoint}/acme/model/back` } });
    await expect(model.take(['onnx/model.onnx'], { folder: scratch.make() })).rejects.toThrow();
    const back = fake.requests.filter(({ line }) => line.endsWith('/back'));
    expect(back.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});

describe('the address of a hub', () => {
  it('may have a path, which redirects keep', async () => {
    const { fake, hub } = await pullFrom({
      repositories: { 'acme/model': { files: SMALL_TREE } },
      path: '/repository/models',
      pageSize: 2,
    });
    const folder = scratch.make();
    await (await hub.describe(NAMED)).take(paths, { folder });
    expectTree(folder, SMALL_TREE);
    const toHub = fake.requests.filter(({ origin }) => origin === 'hub');
    expect(toHub.filter(({ line }) => !line.startsWith('GET /repository/models/'))).toEqual([]);
  });

  it('is asked for nothing packed', async () => {
    const { fake, hub } = await pullFrom({ repositories: { 'acme/model': { files: SMALL_TREE } } });
    await (await hub.describe(NAMED)).take(paths, { folder: scratch.make() });
    expect([...new Set(fake.requests.map(({ headers }) => headers['accept-encoding']))]).toEqual(['identity']);
  });

  it('is asked for nothing at all when one is offline', async () => {
    const { fake, hub } = await pullFrom(
      { repositories: { 'acme/model': { files: SMALL_TREE } } },
      { isOffline: true },
    );
    await expect(hub.describe(NAMED)).rejects.toThrow('acme/model is not asked for: HF_HUB_OFFLINE is set.');
    expect(fake.requests).toEqual([]);
  });
});
