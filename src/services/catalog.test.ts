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

  it('finds the model of a type that a key may use, where there is one alone', () => {
    const two = { models: [card('small', 'reranker'), card('large', 'reranker')] };
    const many = new Catalog([local, two], undefined, { best: 'large' });
    const find = (models: readonly string[] | null) => many.getOnlyModelOfType(keyFor(models), 'reranker').id;
    expect([['kev', 'small'], ['large'], ['best']].map(find)).toEqual(['small', 'large', 'large']);
    const isNeeded = (count: string) =>
      expect.objectContaining({
        code: 'invalid_request',
        param: 'model',
        message: `The field 'model' is needed: this key may use ${count} of type "reranker".`,
      });
    expect(() => find(['kev'])).toThrow(isNeeded('no model'));
    expect(() => find(null)).toThrow(isNeeded('several models'));
  });

  it.each(['toString', '__proto__', 'KEV', ' kev', ''])('has no model %j', (id) => {
    expect(() => catalog.getModel(keyFor(null), id)).toThrow(expect.objectContaining({ code: 'model_not_found' }));
  });

  describe('aliases', () => {
    const aliased = new Catalog([local, upstream], undefined, { 'jev-latest': 'kev', 'gpt-4o': 'llama' });
    const ids = (models: readonly string[] | null) => aliased.list(keyFor(models)).map(({ id }) => id);

    it('are listed after the models, for keys that may use either', () => {
      expect(ids(null)).toEqual(['kev', 'mini', 'llama', 'jev-latest', 'gpt-4o']);
      expect(ids(['kev'])).toEqual(['kev', 'jev-latest']);
      expect(ids(['jev-*'])).toEqual(['jev-latest']);
      expect(ids(['mini'])).toEqual(['mini']);
      expect(aliased.describe(keyFor(null), 'jev-latest')).toEqual({
        ...card('kev', 'decision'),
        id: 'jev-latest',
        aliasOf: 'kev',
      });
      expect(aliased.all().map(({ id }) => id)).toEqual(['kev', 'mini', 'llama']);
    });

    it('run the model, as it is named itself', () => {
      expect(aliased.getModel(keyFor(['kev']), 'jev-latest')).toEqual(card('kev', 'decision'));
      expect(aliased.getModelOfType(keyFor(['jev-latest']), 'jev-latest', 'decision').id).toBe('kev');
      expect(() => aliased.getModelOfType(keyFor(null), 'gpt-4o', 'decision')).toThrow(
        expect.objectContaining({ code: 'model_type_mismatch' }),
      );
    });

    it('open no more than they name', () => {
      const key = keyFor(['jev-latest']);
      const notAllowed = expect.objectContaining({ code: 'model_not_allowed' });
      expect(() => aliased.getModel(key, 'kev')).toThrow(notAllowed);
      expect(() => aliased.getModel(key, 'gpt-4o')).toThrow(notAllowed);
      expect(() => aliased.describe(key, 'gpt-4o')).toThrow(notAllowed);
      expect(() => aliased.describe(key, 'toString')).toThrow(expect.objectContaining({ code: 'model_not_found' }));
    });

    it.each([
      [{ kev: 'mini' }, 'aliases: "kev" is the id of a model.'],
      [{ a: 'gone' }, 'aliases: "a" stands for "gone", which is no model of this server.'],
      [{ a: 'b', b: 'kev' }, 'aliases: "a" stands for "b", which is an alias itself.'],
      [{ a: 'a' }, 'aliases: "a" stands for "a", which is an alias itself.'],
    ])('that cannot be: %j', (aliases, message) => {
      expect(() => new Catalog([local], undefined, aliases as unknown as Record<string, string>)).toThrow(message);
    });
  });

  it('refuses two models of one id', () => {
    expect(() => new Catalog([local, { models: [card('kev', 'llm')] }])).toThrow('Two models have the id "kev".');
  });
});
