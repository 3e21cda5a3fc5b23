// Manifests of other people's models that say of a graph what is not so: they do not load, and the message says why.

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { layForeignFolders } from '../fixtures/foreign-folders.ts';
import { createTinyEngine } from './tiny-engine.ts';

let modelsDir: string;
beforeEach(() => {
  modelsDir = mkdtempSync(join(tmpdir(), 'umpire-foreign-loading-'));
});
afterEach(() => rmSync(modelsDir, { recursive: true, force: true }));

/** Lays a model with another manifest and its right sum. */
function layWith(name: string, change: (manifest: string) => string): string {
  const [folder = ''] = layForeignFolders(modelsDir, [name]);
  const path = join(folder, 'model.json');
  const text = change(readFileSync(path, 'utf8'));
  writeFileSync(path, text);
  const sumsPath = join(folder, 'SHA256SUMS');
  const sum = createHash('sha256').update(text).digest('hex');
  writeFileSync(sumsPath, readFileSync(sumsPath, 'utf8').replace(/^.*( {2}model\.json)$/m, `${sum}$1`));
  return folder;
}

async function start(folder: string): Promise<void> {
  const engine = await createTinyEngine({ modelFolders: [folder], workers: 1 });
  try {
    await engine.ready;
  } finally {
    await engine.drain();
  }
}

it.each([
  ['another pooling', '"pooling": "mean"', '"pooling": "cls"', /golden\.json: golden mismatch: case 1: cosine/],
  [
    'pooling in the graph',
    '"pooling": "mean"',
    '"pooling": "graph"',
    /tensor of \[1, \d+, 16\] where \[1, 16\] was due/,
  ],
  ['other dimensions', '"dimensions": 16', '"dimensions": 8', /tensor of \[1, \d+, 16\] where \[1, \d+, 8\] was due/],
  ['an output that is not there', '"last_hidden_state"', '"sentence_embedding"', /sentence_embedding/],
  ['an input less', '"types": "token_type_ids"', '"positions": "position_ids"', /token_type_ids/],
  [
    'a prompt that leaves no room',
    '"query: "',
    `"${'query '.repeat(60)}"`,
    /model\.json: the prompt query has \d+ tokens; at most half of 94 may be prompt/,
  ],
])('a model with %s does not load', async (_what, from, to, message) => {
  const folder = layWith('bert-mean', (manifest) => {
    expect(manifest).toContain(from);
    return manifest.replace(from, to);
  });
  await expect(start(folder)).rejects.toThrow(message);
});
