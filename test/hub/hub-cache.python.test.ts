// The hub's own client beside ours. It pulls from the fake hub, which is therefore like the real one in what both ask of it;
// and what it leaves in its cache is taken from there.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readFromCache } from '../../src/hub/hub-cache.ts';
import { childEnvironment } from '../process/server-process.ts';
import { startFakeHub } from './fake-hub.ts';
import { listEntries, ScratchFolders, SMALL_TREE } from './model-tree.ts';

const scratch = new ScratchFolders();
afterAll(() => scratch.dispose());

const TREE = { ...SMALL_TREE, 'onnx/a b.json': '{}' };
const NAMED = { repo: 'acme/model', revision: 'main' };

const hasClient = spawnSync('python3', ['-c', 'import huggingface_hub.utils._shared_blobs']).status === 0;
if (!hasClient) process.stderr.write('No newer huggingface_hub for Python here: its cache is not read.\n');

const PULL = `
from huggingface_hub import snapshot_download
snapshot_download('acme/model', token=False)
`;

/** What it does with files that came by its other protocol, which the fake hub has not. */
const SHARE = `
import os
from pathlib import Path
from huggingface_hub.utils._shared_blobs import publish_blob_to_shared_store
cache = os.environ['HF_HUB_CACHE']
for number, blob in enumerate(sorted(Path(cache, 'models--acme--model', 'blobs').iterdir())):
    assert publish_blob_to_shared_store(blob_path=str(blob), xet_hash=f'{number:02x}' * 32, cache_dir=cache, expected_size=blob.stat().st_size)
    assert blob.is_symlink()
`;

async function fillCache(script: string): Promise<string> {
  const fake = await startFakeHub({ repositories: { 'acme/model': { files: TREE } }, pageSize: 2 });
  const cache = scratch.make();
  const variables = { HF_ENDPOINT: fake.endpoint, HF_HOME: cache, HF_HUB_CACHE: cache, HF_HUB_DISABLE_XET: '1' };
  const env = childEnvironment({ ...variables, HF_HUB_DISABLE_PROGRESS_BARS: '1', HF_HUB_OFFLINE: '0' });
  const client = spawn('python3', ['-c', script], { stdio: ['ignore', 'ignore', 'inherit'], env });
  const [code] = await once(client, 'close');
  await fake.close();
  expect(code).toBe(0);
  return cache;
}

describe.skipIf(!hasClient)("the cache of the hub's own client", () => {
  it.each([
    ['with blobs of each repository', PULL],
    ['with blobs that repositories share', PULL + SHARE],
  ])('is read: %s', async (_name, script) => {
    const cacheFolder = await fillCache(script);
    const before = listEntries(cacheFolder);
    const model = await readFromCache({ ...NAMED, cacheFolder, endpoint: 'https://huggingface.co' });
    const paths = model.files.map(({ path }) => path);
    expect(paths.sort()).toEqual(Object.keys(TREE).sort());
    expect(model.files.filter(({ hash, fault }) => hash === undefined || fault !== undefined)).toEqual([]);
    const folder = scratch.make();
    await model.take(paths, { folder });
    for (const [path, content] of Object.entries(TREE))
      expect(readFileSync(join(folder, path)).equals(Buffer.from(content)), path).toBe(true);
    expect(listEntries(cacheFolder)).toEqual(before);
  });
});
