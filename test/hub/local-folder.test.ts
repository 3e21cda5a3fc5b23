import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readLocalFolder } from '../../src/hub/local-folder.ts';
import type { TakeProgress } from '../../src/hub/model-files.ts';
import { filled, ScratchFolders, SMALL_TREE } from './model-tree.ts';

const scratch = new ScratchFolders();
afterAll(() => scratch.dispose());

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

describe('a folder of this machine', () => {
  it('lists its files with their sizes, and says the licence of its card', async () => {
    const folder = scratch.make({ ...SMALL_TREE, '.git/config': 'none of the model’s' });
    const model = await readLocalFolder(folder);
    expect(model.files.map(({ path, bytes }) => [path, bytes])).toEqual([
      ['README.md', SMALL_TREE['README.md']?.length],
      ['config.json', 23],
      ['onnx/model.onnx', 300_000],
    ]);
    expect(model.description).toBe(`the folder ${folder}`);
    expect(model.origin).toBeUndefined();
    expect(model.facts).toMatchObject({ licence: 'apache-2.0', tags: ['onnx', 'reranker'], isGated: false });
  });

  it('gives its files as copies with their sums, and tells how far it is', async () => {
    const source = scratch.make(SMALL_TREE);
    const folder = join(scratch.make(), 'taken');
    const progress: TakeProgress[] = [];
    const model = await readLocalFolder(source);
    const taken = await model.take(['onnx/model.onnx', 'config.json'], {
      folder,
      onProgress: (news) => progress.push(news),
    });
    expect(taken).toEqual(
      ['onnx/model.onnx', 'config.json'].map((path) => ({
        path,
        localPath: join(folder, path),
        bytes: SMALL_TREE[path]?.length,
        sha256: sha256(SMALL_TREE[path] ?? ''),
      })),
    );
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual([
      'config.json',
      'onnx',
      join('onnx', 'model.onnx'),
    ]);
    expect(progress.at(-1)).toMatchObject({ path: 'config.json', doneBytes: 300_023, totalBytes: 300_023 });
    // Somebody goes on with the source.
    writeFileSync(join(source, 'config.json'), 'other');
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe(SMALL_TREE['config.json']);
  });

  it('replaces what an earlier try left', async () => {
    const model = await readLocalFolder(scratch.make(SMALL_TREE));
    const folder = scratch.make({ 'config.json': 'old', 'onnx/model.onnx.partial': 'half' });
    await model.take(['config.json', 'onnx/model.onnx'], { folder });
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe(SMALL_TREE['config.json']);
    expect(readdirSync(join(folder, 'onnx'))).toEqual(['model.onnx']);
  });

  it('follows links to files, and copies what they lead to', async () => {
    const elsewhere = scratch.make({ blob: filled(1000, 3) });
    const source = scratch.make();
    symlinkSync(join(elsewhere, 'blob'), join(source, 'model.onnx'));
    const [taken] = await (await readLocalFolder(source)).take(['model.onnx'], { folder: scratch.make() });
    expect(taken?.sha256).toBe(sha256(filled(1000, 3)));
    expect(statSync(taken?.localPath ?? '', { bigint: true }).ino).not.toBe(
      statSync(join(elsewhere, 'blob'), { bigint: true }).ino,
    );
  });

  it('lists a link that leads nowhere, and says so when it is asked for', async () => {
    const source = scratch.make(SMALL_TREE);
    symlinkSync(join(source, 'gone'), join(source, 'vocab.txt'));
    const model = await readLocalFolder(source);
    expect(model.files.map(({ path }) => path)).toContain('vocab.txt');
    await expect(model.take(['vocab.txt'], { folder: scratch.make() })).rejects.toThrow(
      'The file "vocab.txt" cannot be taken: its link leads to no file.',
    );
  });

  it('refuses what is not there', async () => {
    const model = await readLocalFolder(scratch.make(SMALL_TREE));
    await expect(model.take(['model.onnx'], { folder: scratch.make() })).rejects.toThrow(
      'There is no file "model.onnx".',
    );
    await expect(readLocalFolder('/nowhere/at/all')).rejects.toThrow('There is no folder /nowhere/at/all.');
    await expect(readLocalFolder(join(scratch.make(SMALL_TREE), 'config.json'))).rejects.toThrow('cannot be read');
  });

  it('refuses two files that would be one where case does not count', async () => {
    const model = await readLocalFolder(scratch.make({ 'Model.onnx': 'a', 'model.onnx': 'b' }));
    await expect(model.take(['Model.onnx', 'model.onnx'], { folder: scratch.make() })).rejects.toThrow(
      'Two of the files have the name "model.onnx" where case does not count.',
    );
  });

  it('notices a file that changed after it was listed', async () => {
    const source = scratch.make(SMALL_TREE);
    const model = await readLocalFolder(source);
    writeFileSync(join(source, 'config.json'), 'longer than it was before, by a good deal');
    const folder = scratch.make();
    await expect(model.take(['config.json'], { folder })).rejects.toThrow('changed meanwhile');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('stops when it is told to', async () => {
    const model = await readLocalFolder(scratch.make(SMALL_TREE));
    const folder = scratch.make();
    const taking = model.take(['onnx/model.onnx'], { folder, signal: AbortSignal.abort(new Error('enough')) });
    await expect(taking).rejects.toThrow('enough');
    expect(existsSync(join(folder, 'onnx/model.onnx'))).toBe(false);
  });

  it('says nothing of a card that is not one', async () => {
    const model = await readLocalFolder(scratch.make({ 'README.md': '---\nlicense: [&a *a\n---\n' }));
    expect(model.facts).toMatchObject({ licence: undefined, tags: [] });
    const hostile = await readLocalFolder(
      scratch.make({ 'README.md': '---\nlicense: "mit\\e[31m"\ntags: [1, {a: b}]\n---\n' }),
    );
    expect(hostile.facts).toMatchObject({ licence: 'mit [31m', tags: [] });
  });
});
