// Entries of optimised graphs on disk: kept while any start uses them, deleted when none has for a month.

import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dropUnusedEntries, provideEntry } from '../../src/runtime/graph-cache.ts';

const DAY_MS = 86_400_000;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'umpire-graph-cache-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** @returns the entry's folder */
async function provide(digest: string): Promise<string> {
  const build = (draft: string) => writeFile(join(draft, 'graph.onnx'), digest);
  return (await provideEntry({ cacheFolder: folder, label: 'kev-encode', inputs: [digest], build })).folder;
}

async function age(path: string, days: number): Promise<void> {
  const then = new Date(Date.now() - days * DAY_MS);
  await utimes(path, then, then);
}

describe('an entry of the graph cache', () => {
  it('goes when no start has used it for a month', async () => {
    const [old, recent] = [await provide('old'), await provide('recent')];
    await age(join(old, 'files.json'), 31);
    await age(join(recent, 'files.json'), 29);
    await dropUnusedEntries(folder, Date.now());
    expect((await readdir(folder)).map((name) => join(folder, name))).toEqual([recent]);
  });

  it('stays when a start reads it, however old it is', async () => {
    const old = await provide('old');
    await age(join(old, 'files.json'), 300);
    await provide('old');
    await dropUnusedEntries(folder, Date.now());
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('that was never finished goes after a day', async () => {
    for (const [name, days] of [
      ['.draft-old', 2],
      ['.draft-new', 0],
    ] as const) {
      await mkdir(join(folder, name));
      await age(join(folder, name), days);
    }
    await dropUnusedEntries(folder, Date.now());
    expect(await readdir(folder)).toEqual(['.draft-new']);
  });

  it('is all that goes: files of others stay', async () => {
    await writeFile(join(folder, 'notes-0123456789abcdef'), '');
    await mkdir(join(folder, 'ledger'));
    await age(join(folder, 'notes-0123456789abcdef'), 300);
    await age(join(folder, 'ledger'), 300);
    await dropUnusedEntries(folder, Date.now());
    await dropUnusedEntries(join(folder, 'missing'), Date.now());
    expect((await readdir(folder)).sort()).toEqual(['ledger', 'notes-0123456789abcdef']);
  });
});
