import { describe, expect, it } from 'vitest';
import { sortOptions } from '../option-order.ts';
import { buildChunks, renderOptions } from './prompt.ts';

describe('options', () => {
  it('are rendered with their description when they have one', () => {
    const options = [
      { name: 'a', description: 'first' },
      { name: 'b', description: null },
      { name: 'c', description: '' },
    ];
    const texts = renderOptions({ type: 'choice', instructions: '', options }).map(({ text }) => text);
    expect(texts).toEqual(['a: first', 'b', 'c']);
  });

  it('of a noul are false and true', () => {
    const rendered = renderOptions({ type: 'noul', instructions: '', whenFalse: null, whenTrue: 'it rains' });
    expect(rendered.map(({ text }) => text)).toEqual(['false', 'true: it rains']);
  });

  it('are sorted by UTF-8 bytes, not UTF-16 units', () => {
    const options = ['\u{1f600}', '\uffee', 'z', 'é'].map((name) => ({ name, description: null }));
    const question = { type: 'choice', instructions: '', options } as const;
    const order = sortOptions(question, renderOptions(question));
    expect(order.map((place) => options[place]?.name)).toEqual(['z', 'é', '\uffee', '\u{1f600}']);
  });

  it('of a score keep their order', () => {
    const question = { type: 'score', instructions: '', levels: ['z', 'a'] } as const;
    expect(sortOptions(question, renderOptions(question))).toEqual([0, 1]);
  });
});

describe('chunks', () => {
  it('repeat the instructions and number their pieces from one', () => {
    const chunks = buildChunks([101, 102], [[[1, 9]], [[2, 9]], [[3, 9]]], 6);
    expect(chunks).toEqual([
      {
        tokenIds: [101, 102, 1, 9, 2, 9],
        positions: [0, 1, 2, 3, 2, 3],
        branch: [0, 0, 1, 1, 2, 2],
        options: [0, 1],
        lengths: [2, 2],
      },
      { tokenIds: [101, 102, 3, 9], positions: [0, 1, 2, 3], branch: [0, 0, 1, 1], options: [2], lengths: [2] },
    ]);
  });

  it('hold at least one piece, however small the capacity', () => {
    expect(buildChunks([101, 102], [[[1, 2, 3]], [[4]]], 1)).toHaveLength(2);
  });
});
