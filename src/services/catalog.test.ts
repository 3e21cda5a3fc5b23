import { describe, expect, it } from 'vitest';
import { unrestrictedKey } from '../domain/api-key.ts';
import type { ModelCard, ModelType } from '../domain/model-card.ts';
import { Catalog } from './catalog.ts';

const card = (id: string, type: ModelType): ModelCard => ({
  id,
  type,
  description: '',
  ownedBy: 'someone',
  releaseDate: '2026-01-01',
  price: { inputMicroUsd: 0, cachedInputMicroUsd: 0, outputMicroUsd: 0 },
});

const keyFor = (models: readonly string[] | null) => unrestrictedKey({ id: 'key', name: 'test', models });

const local = { models: [card('kev', 'decision'), card('mini', 'embedding')] };
const upstream = { models: [card('llama', 'llm')] };
const catalog = new Catalog([local, upstream]);

describe('Catalog', () => {
  it('lists the models of all sources that a key may use, in the order of the sources', () => {
    const ids = (models: readonly string[] | null) => catalog.list(keyFor(models)).map(({ id }) => id);
    expect(ids(null)).toEqual(['kev', 'mini', 'llama']);
    expect(ids(['llama', 'kev', 'gone'])).toEqual(['kev', 'llama']);
    expect(ids([])).toEqual([]);
  });

  it('tells what is not there from what is not allowed, and that from what works elsewhere', () => {
    const key = keyFor(['kev']);
    const find = (id: string) => () => catalog.getModelOfType(key, id, 'embedding');
    expect(find('nope')).toThrow(expect.objectContaining({ code: 'model_not_found' }));
    expect(find('mini')).toThrow(expect.objectContaining({ code: 'model_not_allowed' }));
    expect(find('kev')).toThrow(expect.objectContaining({ code: 'model_type_mismatch' }));
    expect(catalog.getModelOfType(key, 'kev', 'decision').id).toBe('kev');
  });

  it.each(['toString', '__proto__', 'KEV', ' kev', ''])('has no model %j', (id) => {
    expect(() => catalog.getModel(keyFor(null), id)).toThrow(expect.objectContaining({ code: 'model_not_found' }));
  });

  it('refuses two models of one id', () => {
    expect(() => new Catalog([local, { models: [card('kev', 'llm')] }])).toThrow('Two models have the id "kev".');
  });
});
