import { describe, expect, it } from 'vitest';
import { hashDocument, StateDirectory } from './state-directory.ts';

const text = (name: string, characters: number): string =>
  name.repeat(Math.ceil(characters / name.length)).slice(0, characters);
const documentOf = (state: string) => hashDocument('kev', state);

describe('directory of kept documents', () => {
  it('finds a document where it was read last, and nothing of others', () => {
    const directory = new StateDirectory(2, 1000);
    const document = documentOf('short');
    expect(directory.find(document)).toBeUndefined();
    directory.put(1, document, 100);
    expect(directory.find(document)).toEqual({ worker: 1, part: 1 });
    expect(directory.find(documentOf('other'))).toBeUndefined();
    expect(directory.find(hashDocument('other model', 'short'))).toBeUndefined();
    expect([directory.partOn(0, document), directory.partOn(1, document)]).toEqual([0, 1]);
  });

  it('finds the begin of a document that grew', () => {
    const directory = new StateDirectory(2, 1000);
    const before = text('customer: hello. ', 5000);
    directory.put(0, documentOf(before), 100);
    const found = directory.find(documentOf(before + text('agent: yes. ', 1000)));
    expect(found).toEqual({ worker: 0, part: 4096 / 6000 });
    expect(directory.find(documentOf(`x${before}`))).toBeUndefined();
  });

  it('prefers the worker that has most of it', () => {
    const directory = new StateDirectory(2, 1000);
    const all = text('a long story ', 9000);
    directory.put(0, documentOf(all.slice(0, 3000)), 10);
    directory.put(1, documentOf(all.slice(0, 8000)), 10);
    expect(directory.find(documentOf(all))?.worker).toBe(1);
  });

  it('lets the least recently used go when a worker is full', () => {
    const directory = new StateDirectory(1, 1000);
    const [a, b, c] = ['a', 'b', 'c'].map(documentOf);
    if (a === undefined || b === undefined || c === undefined) throw new Error('three documents');
    for (const document of [a, b, a, c]) directory.put(0, document, 400);
    expect([a, b, c].map((document) => directory.partOn(0, document))).toEqual([1, 0, 1]);
    directory.put(0, b, 1001);
    expect(directory.find(b)).toBeUndefined();
  });

  it('forgets begins with the documents they came from', () => {
    const directory = new StateDirectory(1, 1000);
    const [left, right] = ['left', 'right'].map((end) => documentOf(text('same ', 4096) + end));
    const next = documentOf(`${text('same ', 4096)}next`);
    if (left === undefined || right === undefined) throw new Error('two documents');
    directory.put(0, left, 10);
    directory.put(0, right, 10);
    directory.remove(0, left);
    expect(directory.find(next)?.part).toBeCloseTo(1, 2);
    directory.remove(0, right);
    expect(directory.find(next)).toBeUndefined();
  });

  it('forgets all of a worker that was replaced', () => {
    const directory = new StateDirectory(2, 1000);
    directory.put(0, documentOf('a'), 10);
    directory.put(1, documentOf('b'), 10);
    directory.forget(0);
    expect([directory.find(documentOf('a')), directory.find(documentOf('b'))?.worker]).toEqual([undefined, 1]);
  });

  it('hashes nothing where nothing is kept', () => {
    expect(new StateDirectory(2, 0).hash('kev', 'text')).toBeUndefined();
  });

  it('knows the empty document', () => {
    const directory = new StateDirectory(1, 1000);
    directory.put(0, documentOf(''), 10);
    expect(directory.find(documentOf(''))?.part).toBe(1);
  });
});
