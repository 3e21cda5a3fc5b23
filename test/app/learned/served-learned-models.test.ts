// The learned models of a running server: what is served at the start, what comes and goes, and what is said of the rest.

import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { serveLearnedModels } from '../../../src/app/learned/served-learned-models.ts';
import { bringBackFormer } from '../../../src/app/pull/folder-draft.ts';
import { placesOf } from '../../../src/app/pull/pulled-places.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { unrestrictedKey } from '../../../src/domain/api-key.ts';
import type { ModelCard } from '../../../src/domain/model-card.ts';
import { LearnedEngine } from '../../../src/engine/learned/learned-engine.ts';
import { holdModelLock } from '../../../src/runtime/model-folder/model-lock.ts';
import { Catalog } from '../../../src/services/catalog.ts';
import { createFakeEngine } from '../../application/fake-engine.ts';
import { ScratchFolders } from '../../hub/model-tree.ts';
import { layLearned, learnedQuestion, readTinyBase } from './learned-draft.ts';

const scratch = new ScratchFolders();
afterAll(() => scratch.dispose());

const OTHER_DIGEST = `sha256:${'0'.repeat(64)}`;
const ANYBODY = unrestrictedKey({ id: 'key', name: 'test' });
const { manifest: TINY, digest: TINY_DIGEST } = await readTinyBase();
const BASE: ModelCard = {
  id: TINY.id,
  type: 'decision',
  description: 'Random weights.',
  ownedBy: 'umpire',
  releaseDate: '2026-11-21',
  price: { inputMicroUsd: 7, cachedInputMicroUsd: 7, outputMicroUsd: 0 },
  digest: TINY_DIGEST,
  limits: { state_tokens: 8192 },
  isCalibrated: true,
};

let dataDir: string;
beforeEach(() => {
  dataDir = scratch.make();
});

async function open(aliases: Record<string, string> = {}, prices = new Map<string, number>()) {
  const { config: loaded } = loadConfig({ flags: { 'data-dir': dataDir }, env: {} });
  const config = { ...loaded, aliases };
  const engine = { ...createFakeEngine(), models: [BASE] };
  const heads = new LearnedEngine(engine);
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const models = await serveLearnedModels({ config, heads, others: [BASE], wanted: undefined, warn });
  const priced = (card: ModelCard): ModelCard => {
    const input = prices.get(card.id);
    return input === undefined ? card : { ...card, price: { ...card.price, inputMicroUsd: input } };
  };
  return { models, heads, warnings, catalog: new Catalog([engine, models], { priced }, aliases) };
}

const biasOf = (heads: LearnedEngine, id: string) =>
  heads.models.find((card) => card.id === id)?.learned?.questions[0]?.rows[0];
const withRows = (rows: number) => ({ questions: [{ ...learnedQuestion(), rows: [rows, rows] }] });

describe('learned models at the start', () => {
  it('are served with the limits and the price of their base', async () => {
    const path = await layLearned(dataDir);
    const { models, heads, catalog, warnings } = await open();
    const { asked, options } = learnedQuestion();
    expect(models.list()).toEqual([{ id: 'support', card: models.models[0], reason: undefined }]);
    expect(catalog.getModel(ANYBODY, 'support')).toMatchObject({
      id: 'support',
      type: 'decision',
      price: BASE.price,
      limits: BASE.limits,
      isCalibrated: true,
      digest: expect.stringMatching(/^sha256:/),
      learned: { base: { id: TINY.id, digest: TINY_DIGEST }, questions: [{ type: 'choice', asked, options }] },
    });
    expect(heads.models.map(({ id }) => id)).toEqual([TINY.id, 'support']);
    expect(warnings).toEqual([]);
    expect(existsSync(path)).toBe(true);
  });

  it('cost what their base costs at the moment, unless they have a price of their own', async () => {
    await layLearned(dataDir);
    const prices = new Map<string, number>();
    const { catalog } = await open({}, prices);
    const price = () => catalog.getModel(ANYBODY, 'support').price.inputMicroUsd;
    expect(price()).toBe(7);
    prices.set(TINY.id, 11);
    expect(price()).toBe(11);
    prices.set('support', 13);
    expect(price()).toBe(13);
  });

  it('hold up nobody when they cannot be served: log, status and the answer say why', async () => {
    const broken = await layLearned(dataDir, { id: 'broken' });
    writeFileSync(join(broken, 'heads.bin'), 'x');
    await layLearned(dataDir, { id: 'changed', base: { ...(await readTinyBase()), digest: OTHER_DIGEST } });
    await layLearned(dataDir, { id: 'joined', embedder: { id: 'mini', digest: OTHER_DIGEST } });
    await layLearned(dataDir, { id: 'good' });
    await layLearned(dataDir, { id: 'named' });
    const { models, heads, catalog, warnings } = await open({ best: 'broken', named: TINY.id });
    const reasons = {
      broken: 'its folder is broken, and the log of the server says where',
      changed: 'its base tiny-decision has changed since; learn it again: umpire learn FILE --name changed',
      joined: 'its embedder mini is not among the models of this server',
      named: 'named is an alias of tiny-decision',
    };
    const told = models.list().map(({ id, card, reason }) => [id, card?.id, reason]);
    expect(told).toEqual([
      ['broken', undefined, reasons.broken],
      ['changed', undefined, reasons.changed],
      ['good', 'good', undefined],
      ['joined', undefined, reasons.joined],
      ['named', undefined, reasons.named],
    ]);
    const reasonOf = new Map(Object.entries(reasons));
    expect(warnings.sort()).toEqual([
      expect.stringMatching(/^the learned model broken is not served: model folder .*heads\.bin: checksum mismatch/),
      ...['changed', 'joined', 'named'].map((id) => `the learned model ${id} is not served: ${reasonOf.get(id)}`),
    ]);
    expect(models.describe(heads.status()).models.slice(-4)).toContainEqual({
      id: 'changed',
      state: 'failed',
      reason: reasons.changed,
    });
    for (const name of ['changed', 'best']) {
      const id = name === 'best' ? 'broken' : name;
      const refusal = { code: 'model_unavailable', message: `The model is not served: ${reasonOf.get(id)}.` };
      expect(() => catalog.getModel(ANYBODY, name)).toThrow(expect.objectContaining(refusal));
      expect(() => catalog.describe(ANYBODY, name)).toThrow(expect.objectContaining(refusal));
    }
    const stranger = unrestrictedKey({ id: 'key', name: 'test', models: ['good'] });
    expect(() => catalog.getModel(stranger, 'changed')).toThrow(expect.objectContaining({ code: 'model_not_allowed' }));
    expect(catalog.list(ANYBODY).map(({ id }) => id)).toEqual([TINY.id, 'good', 'named']);
  });

  it('are back where a replacement was cut off between two moments, unless somebody is at work on them', async () => {
    const path = await layLearned(dataDir);
    const { former, lock } = placesOf(dataDir, 'support');
    renameSync(path, former);
    const held = await holdModelLock(lock, 'support');
    await bringBackFormer(dataDir);
    expect((await open()).models.list()).toEqual([]);
    held.release();
    await bringBackFormer(dataDir);
    expect((await open()).models.models.map(({ id }) => id)).toEqual(['support']);
    await bringBackFormer(join(dataDir, 'nowhere'));
  });
});

describe('a learned model of a running server', () => {
  it('comes, is replaced and goes, for the engine and the catalog alike', async () => {
    const { models, heads, catalog } = await open();
    expect(() => catalog.getModel(ANYBODY, 'support')).toThrow(expect.objectContaining({ code: 'model_not_found' }));
    const path = await layLearned(dataDir, withRows(8));
    const first = await models.load('support');
    expect(catalog.getModel(ANYBODY, 'support')).toEqual(first);
    await layLearned(dataDir, withRows(16));
    expect(biasOf(heads, 'support')).toBe(8);
    const second = await models.load('support');
    expect(second.digest).not.toBe(first.digest);
    expect([biasOf(heads, 'support'), catalog.getModel(ANYBODY, 'support')]).toEqual([16, second]);
    await models.remove('support');
    expect(existsSync(path)).toBe(false);
    expect(heads.models.map(({ id }) => id)).toEqual([TINY.id]);
    expect(catalog.has('support')).toBe(false);
    await expect(models.remove('support')).rejects.toMatchObject({ code: 'model_not_found' });
    await expect(models.remove(TINY.id)).rejects.toMatchObject({ code: 'model_not_found' });
  });

  it('stays what it was when its successor cannot be served', async () => {
    await layLearned(dataDir, withRows(8));
    const { models, heads, catalog } = await open();
    const before = catalog.getModel(ANYBODY, 'support');
    await layLearned(dataDir, { ...withRows(16), base: { ...(await readTinyBase()), digest: OTHER_DIGEST } });
    await expect(models.load('support')).rejects.toThrow('has changed since; learn it again');
    const file = join(dataDir, 'models', 'support', 'heads.bin');
    writeFileSync(file, 'x');
    await expect(models.load('support')).rejects.toThrow('heads.bin: checksum mismatch');
    expect([biasOf(heads, 'support'), catalog.getModel(ANYBODY, 'support')]).toEqual([8, before]);
  });

  it('is served at last when what was wrong was made good', async () => {
    const path = await layLearned(dataDir);
    rmSync(join(path, 'rows.bin'));
    const { models, catalog } = await open();
    expect(models.unserved.map(({ id }) => id)).toEqual(['support']);
    await layLearned(dataDir);
    await models.load('support');
    expect(models.unserved).toEqual([]);
    expect(catalog.has('support')).toBe(true);
  });

  it('is deleted though it could not be served, and forgotten though it was deleted by others', async () => {
    const path = await layLearned(dataDir);
    writeFileSync(join(path, 'model.json'), '{');
    const { models, catalog } = await open();
    await models.remove('support');
    expect([models.list(), existsSync(path)]).toEqual([[], false]);
    await layLearned(dataDir);
    await models.load('support');
    rmSync(path, { recursive: true });
    await models.remove('support');
    expect(catalog.has('support')).toBe(false);
  });

  it('is not deleted while somebody learns it', async () => {
    await layLearned(dataDir);
    const { models, catalog } = await open();
    const lock = await holdModelLock(placesOf(dataDir, 'support').lock, 'support');
    await expect(models.remove('support')).rejects.toMatchObject({ code: 'conflict' });
    expect(catalog.has('support')).toBe(true);
    lock.release();
    await models.remove('support');
  });

  it('is no alias and no other model, and an alias of it leads nowhere when it is gone', async () => {
    await layLearned(dataDir);
    const { models, catalog } = await open({ best: 'support', 'also-tiny': TINY.id });
    expect(models.findIdFault('support')).toBeUndefined();
    expect(models.findIdFault('new.one')).toBeUndefined();
    expect(models.findIdFault('best')).toBe('best is an alias of support');
    expect(models.findIdFault(TINY.id)).toBe('tiny-decision is another model of this server');
    expect(models.findIdFault('kev')).toMatch(/^kev is a model of /);
    for (const odd of ['', '../up', 'Upper', '.hidden']) expect(models.findIdFault(odd)).toMatch(/^an id has 1 to 64/);
    await expect(models.load('best')).rejects.toMatchObject({ code: 'conflict' });
    expect(catalog.list(ANYBODY).map(({ id }) => id)).toEqual([TINY.id, 'support', 'best', 'also-tiny']);
    await models.remove('support');
    expect(catalog.list(ANYBODY).map(({ id }) => id)).toEqual([TINY.id, 'also-tiny']);
    expect(() => catalog.getModel(ANYBODY, 'best')).toThrow(expect.objectContaining({ code: 'model_not_found' }));
  });
});
