import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readFromCache } from '../../src/hub/hub-cache.ts';
import { ScratchFolders, SMALL_TREE, type Tree } from './model-tree.ts';

const scratch = new ScratchFolders();
afterAll(() => scratch.dispose());

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const NAMED = { endpoint: 'https://huggingface.co', repo: 'acme/model', revision: 'main' };
const paths = Object.keys(SMALL_TREE);

function nameOf(path: string, content: string | Uint8Array): string {
  if (path.endsWith('.onnx')) return createHash('sha256').update(content).digest('hex');
  return createHash('sha1')
    .update(`blob ${Buffer.from(content).length}\0`)
    .update(content)
    .digest('hex');
}

function linkFrom(place: string, target: string): void {
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(relative(dirname(place), target), place);
}

/** As the tools of the hub leave it. `shared`: with the blobs of all repositories in one place. */
function makeCache(layout: 'own' | 'shared', tree: Tree = SMALL_TREE): string {
  const cache = scratch.make();
  const repository = join(cache, 'models--acme--model');
  for (const [path, content] of Object.entries(tree)) {
    const blob = join(repository, 'blobs', nameOf(path, content));
    const stored = layout === 'own' ? blob : join(cache, 'blobs', 'ab', `${'c'.repeat(50)}-${path.replace('/', '-')}`);
    mkdirSync(dirname(stored), { recursive: true });
    writeFileSync(stored, content);
    if (layout === 'shared') linkFrom(blob, stored);
    linkFrom(join(repository, 'snapshots', COMMIT, path), blob);
  }
  mkdirSync(join(repository, 'refs', 'refs', 'pr'), { recursive: true });
  writeFileSync(join(repository, 'refs', 'main'), COMMIT);
  writeFileSync(join(repository, 'refs', 'refs', 'pr', '1'), `${COMMIT}\n`);
  return cache;
}

describe.each(['own', 'shared'] as const)('a cache with blobs in their %s place', (layout) => {
  it('lists a revision, with the sums that its blobs are named by', async () => {
    const cacheFolder = makeCache(layout);
    const model = await readFromCache({ ...NAMED, cacheFolder });
    expect(model.origin).toEqual({ endpoint: 'https://huggingface.co', repo: 'acme/model', commit: COMMIT });
    expect(model.description).toBe(`acme/model at 0123456789ab in the cache ${cacheFolder}`);
    expect(model.facts.licence).toBe('apache-2.0');
    expect(model.files.map(({ path, bytes, hash, fault }) => [path, bytes, hash?.hex, fault])).toEqual(
      paths.map((path) => [path, SMALL_TREE[path]?.length, nameOf(path, SMALL_TREE[path] ?? ''), undefined]),
    );
  });

  it('gives its files, which stay when it is deleted', async () => {
    const cacheFolder = makeCache(layout);
    const folder = scratch.make();
    const model = await readFromCache({ ...NAMED, cacheFolder });
    const taken = await model.take(paths, { folder });
    rmSync(cacheFolder, { recursive: true });
    for (const { path, localPath, sha256 } of taken) {
      expect(readFileSync(localPath).equals(Buffer.from(SMALL_TREE[path] ?? ''))).toBe(true);
      expect(sha256).toBe(
        createHash('sha256')
          .update(SMALL_TREE[path] ?? '')
          .digest('hex'),
      );
    }
    expect(
      readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isSymbolicLink()),
    ).toEqual([]);
  });

  it('takes no room twice', async () => {
    const cacheFolder = makeCache(layout);
    const [taken] = await (await readFromCache({ ...NAMED, cacheFolder })).take(['onnx/model.onnx'], {
      folder: scratch.make(),
    });
    expect(statSync(taken?.localPath ?? '').nlink).toBe(2);
  });

  it('notices a blob that is not what its name says, and leaves it as it is', async () => {
    const cacheFolder = makeCache(layout);
    const model = await readFromCache({ ...NAMED, cacheFolder });
    const blob = join(cacheFolder, 'models--acme--model', 'snapshots', COMMIT, 'config.json');
    writeFileSync(blob, readFileSync(blob, 'utf8').replace('bert', 'evil'));
    const folder = scratch.make();
    await expect(model.take(['config.json'], { folder })).rejects.toThrow('is not what its name in the cache says');
    expect(readdirSync(folder)).toEqual([]);
    expect(existsSync(blob)).toBe(true);
  });
});

describe('a revision in the cache', () => {
  it('is a commit, a branch, or whatever has a reference', async () => {
    const cacheFolder = makeCache('own');
    for (const revision of [COMMIT, 'main', 'refs/pr/1'])
      expect((await readFromCache({ ...NAMED, cacheFolder, revision })).origin?.commit).toBe(COMMIT);
  });

  it('that is not there is told, with what is', async () => {
    const cacheFolder = makeCache('own');
    await expect(readFromCache({ ...NAMED, cacheFolder, revision: 'v2' })).rejects.toThrow(
      `The cache has no revision "v2" of acme/model. It has: ${COMMIT}.`,
    );
    await expect(readFromCache({ ...NAMED, cacheFolder, repo: 'acme/other' })).rejects.toThrow(
      `acme/other is not in the cache: there is nothing at ${join(cacheFolder, 'models--acme--other')}.`,
    );
  });
});

describe('a link of the cache', () => {
  it('that is broken is told when its file is asked for', async () => {
    const cacheFolder = makeCache('own');
    rmSync(
      join(cacheFolder, 'models--acme--model', 'blobs', nameOf('onnx/model.onnx', SMALL_TREE['onnx/model.onnx'] ?? '')),
    );
    const model = await readFromCache({ ...NAMED, cacheFolder });
    await expect(model.take(['onnx/model.onnx'], { folder: scratch.make() })).rejects.toThrow(
      'The file "onnx/model.onnx" cannot be taken: its link leads to no file.',
    );
    await model.take(['config.json'], { folder: scratch.make() });
  });

  it('that leads out of it is refused', async () => {
    const cacheFolder = makeCache('own');
    const outside = scratch.make({ 'secret.json': '{}' });
    symlinkSync(
      join(outside, 'secret.json'),
      join(cacheFolder, 'models--acme--model', 'snapshots', COMMIT, 'secret.json'),
    );
    const model = await readFromCache({ ...NAMED, cacheFolder });
    await expect(model.take(['secret.json'], { folder: scratch.make() })).rejects.toThrow(
      'The file "secret.json" cannot be taken: its link leads out of the cache.',
    );
  });
});

/** Another file system than that of temporary folders, on Linux. */
const OTHER_DISK = '/dev/shm';
const hasOtherDisk = existsSync(OTHER_DISK) && statSync(OTHER_DISK).dev !== statSync(scratch.make()).dev;

describe.skipIf(!hasOtherDisk)('a folder on another disk than the cache', () => {
  it('gets copies', async () => {
    const cacheFolder = makeCache('shared');
    const folder = join(OTHER_DISK, `umpire-hub-${process.pid}`);
    try {
      const [taken] = await (await readFromCache({ ...NAMED, cacheFolder })).take(['onnx/model.onnx'], { folder });
      expect(statSync(taken?.localPath ?? '').nlink).toBe(1);
      expect(readFileSync(taken?.localPath ?? '').equals(Buffer.from(SMALL_TREE['onnx/model.onnx'] ?? ''))).toBe(true);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
