// A learned model on disk: what is written is what is read, holds no text of anybody, and is whole or not there.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  isLearnedFolder,
  listLearnedFolders,
  readLearnedFolder,
  readLearnedRows,
  removeLearnedFolder,
} from '../../../src/app/learned/learned-folder.ts';
import { writeLearnedFolder } from '../../../src/app/learned/write-learned-folder.ts';
import { placesOf } from '../../../src/app/pull/pulled-places.ts';
import { readManifest } from '../../../src/runtime/model-folder/model-folder.ts';
import { holdModelLock } from '../../../src/runtime/model-folder/model-lock.ts';
import { ScratchFolders } from '../../hub/model-tree.ts';
import { tinyDecision } from '../../workers/tiny-engine.ts';
import { draftOf, frozenQuestion, layLearned, learnedQuestion, STATE, WHERE } from './learned-draft.ts';

const scratch = new ScratchFolders();
afterAll(() => scratch.dispose());

describe('the folder of a learned model', () => {
  it('gives back the model and its rows', async () => {
    const draft = await draftOf(scratch.make());
    const written = await writeLearnedFolder(draft);
    expect(written.model).toEqual(draft.model);
    expect(await readLearnedFolder(written.path)).toEqual(written);
    expect(written.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    const rows = frozenQuestion().rows.map((row) => ({ ...row, line: 0 }));
    expect(await readLearnedRows(written.path)).toEqual([{ ...frozenQuestion(), rows }]);
  });

  it('says what it stands on and what was gained, and nothing of what was written to it', async () => {
    const path = await layLearned(scratch.make(), { embedder: { id: 'mini', digest: `sha256:${'e'.repeat(64)}` } });
    expect(readdirSync(path).sort()).toEqual(['SHA256SUMS', 'heads.bin', 'model.json', 'rows.bin']);
    const manifest = JSON.parse(readFileSync(join(path, 'model.json'), 'utf8'));
    const base = JSON.parse(readFileSync(join(tinyDecision, 'model.json'), 'utf8'));
    const { asked, options } = learnedQuestion();
    expect(manifest).toMatchObject({
      format: 3,
      id: 'support',
      family: 'learned',
      release_date: '2026-11-22',
      base: { id: 'tiny-decision', digest: expect.stringMatching(/^sha256:/) },
      embedder: { id: 'mini' },
      limits: base.limits,
      price: base.price,
      licence: base.licence,
      questions: [
        {
          type: 'choice',
          asked,
          options,
          rows: [8, 8],
          figures: {
            zero_shot: { accuracy: { mean: 0.5, spread: 0.05 } },
            learned: { accuracy: { mean: 0.75, spread: 0.05 }, answered_at_5: { mean: null } },
          },
        },
      ],
    });
    const all = readdirSync(path)
      .map((name) => readFileSync(join(path, name), 'latin1'))
      .join();
    for (const text of [STATE, WHERE.instructions, 'depot', 'harbour', 'quay']) expect(all).not.toContain(text);
  });

  it('is the same, and has the same digest, for the same model', async () => {
    const digests = await Promise.all(
      [scratch.make(), scratch.make()].map(async (place) => (await readLearnedFolder(await layLearned(place))).digest),
    );
    expect(digests[0]).toBe(digests[1]);
  });

  it.each(['model.json', 'heads.bin', 'rows.bin'])('is refused when its %s was changed, or is gone', async (name) => {
    const path = await layLearned(scratch.make());
    const content = readFileSync(join(path, name));
    writeFileSync(join(path, name), Buffer.concat([content, Buffer.from(' ')]));
    await expect(readLearnedFolder(path)).rejects.toThrow(`model folder ${path}: ${name}: checksum mismatch`);
    rmSync(join(path, name));
    await expect(readLearnedFolder(path)).rejects.toThrow(`model folder ${path}: ${name}: the file is missing`);
    expect(isLearnedFolder(path)).toBe(true);
  });

  it('is refused under another name than its id', async () => {
    const path = await layLearned(scratch.make());
    renameSync(path, `${path}-2`);
    await expect(readLearnedFolder(`${path}-2`)).rejects.toThrow('a learned model lies in a folder of its own name');
  });

  it('is no model that is loaded', async () => {
    const path = await layLearned(scratch.make());
    await expect(readManifest(path)).rejects.toThrow('model.json: a learned model: it is no model to load');
    await expect(readLearnedFolder(tinyDecision)).rejects.toThrow('heads.bin: it is not listed in SHA256SUMS');
    expect(isLearnedFolder(tinyDecision)).toBe(false);
  });

  it('replaces the former one', async () => {
    const dataDir = scratch.make();
    const first = await readLearnedFolder(await layLearned(dataDir));
    const second = await readLearnedFolder(await layLearned(dataDir, { questions: [learnedQuestion(WHERE, 2)] }));
    expect(second.digest).not.toBe(first.digest);
    expect(second.model.questions[0]?.head.biases[0]).toBe(2);
    expect(readdirSync(join(dataDir, 'models'))).toEqual(['support']);
  });

  it('stays as it was when its successor cannot be written, or could not be served', async () => {
    const dataDir = scratch.make();
    const path = await layLearned(dataDir);
    const before = await readLearnedFolder(path);
    const odd = await draftOf(dataDir, { questions: [learnedQuestion(WHERE, 1, 2)] });
    await expect(writeLearnedFolder(odd)).rejects.toThrow('heads.bin: a head of 2 dimensions, not 3');
    expect(await readLearnedFolder(path)).toEqual(before);
    expect(readdirSync(join(dataDir, 'models'))).toEqual(['support']);
    if (process.getuid?.() !== 0) {
      chmodSync(join(dataDir, 'models'), 0o500);
      await expect(writeLearnedFolder(await draftOf(dataDir))).rejects.toThrow('What was there before stays.');
      chmodSync(join(dataDir, 'models'), 0o700);
    }
  });

  it('comes back when its replacement was cut off in the middle', async () => {
    const dataDir = scratch.make();
    const path = await layLearned(dataDir);
    const { draft, former } = placesOf(dataDir, 'support');
    renameSync(path, former);
    mkdirSync(draft);
    writeFileSync(join(draft, 'heads.bin'), 'half of it');
    expect(listLearnedFolders(dataDir)).toEqual([]);
    await expect(
      writeLearnedFolder(await draftOf(dataDir, { questions: [learnedQuestion(WHERE, 1, 2)] })),
    ).rejects.toThrow();
    expect(listLearnedFolders(dataDir)).toEqual([path]);
    expect((await readLearnedFolder(path)).model.id).toBe('support');
  });
});

describe('learned models of a data folder', () => {
  it('are listed by name, broken ones too, and no others', async () => {
    const dataDir = scratch.make();
    expect(listLearnedFolders(dataDir)).toEqual([]);
    const paths = await Promise.all(['b', 'a', 'c', 'd'].map((id) => layLearned(dataDir, { id })));
    cpSync(tinyDecision, join(dataDir, 'models', 'pulled'), { recursive: true });
    rmSync(join(dataDir, 'models', 'c', 'heads.bin'));
    writeFileSync(join(dataDir, 'models', 'd', 'model.json'), '{');
    expect(listLearnedFolders(dataDir)).toEqual(paths.sort());
  });

  it('are removed, but no others, and not while somebody is at work on them', async () => {
    const dataDir = scratch.make();
    const path = await layLearned(dataDir);
    cpSync(tinyDecision, join(dataDir, 'models', 'pulled'), { recursive: true });
    const lock = await holdModelLock(placesOf(dataDir, 'support').lock, 'support');
    await expect(removeLearnedFolder(dataDir, 'support')).rejects.toThrow(
      'Somebody else is at work on the model support.',
    );
    lock.release();
    await removeLearnedFolder(dataDir, 'support');
    expect(existsSync(path)).toBe(false);
    for (const id of ['support', 'pulled']) {
      await expect(removeLearnedFolder(dataDir, id)).rejects.toThrow(`There is no learned model "${id}"`);
    }
    expect(readdirSync(join(dataDir, 'models')).sort()).toEqual(['.locks', 'pulled']);
  });
});
