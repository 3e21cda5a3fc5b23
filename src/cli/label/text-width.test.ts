import { describe, expect, it } from 'vitest';
import { cellsOf, cutTo, padTo, wrapCells } from './text-width.ts';

describe('the width of a text', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['你好', 4],
    ['ｆｕｌｌ', 8],
    ['한국', 4],
    ['😀', 2],
    ['❤️', 2],
    ['❤', 1],
    ['🇩🇪', 4],
    ['é́́', 1],
    ['मु', 1],
  ])('%s', (text, cells) => {
    expect(cellsOf(text)).toBe(cells);
  });

  it('is never too small for joined emoji', () => {
    expect(cellsOf('👩‍👩‍👧')).toBe(6);
  });
});

describe('lines', () => {
  it('break between words', () => {
    expect(wrapCells('one two three four', 9)).toEqual(['one two', 'three', 'four']);
  });

  it('break within a word that is too long', () => {
    expect(wrapCells(`${'x'.repeat(25)} y`, 10)).toEqual(['x'.repeat(10), 'x'.repeat(10), 'xxxxx y']);
    expect(wrapCells(`a ${'x'.repeat(12)}`, 10)).toEqual([`a ${'x'.repeat(8)}`, 'xxxx']);
  });

  it('keep empty ones, and show tabs as spaces', () => {
    expect(wrapCells('a\n\n\tb\n', 10)).toEqual(['a', '', '    b', '']);
  });

  it.each([
    '你好世界'.repeat(20),
    '👩‍👩‍👧'.repeat(20),
    'a你'.repeat(40),
    `e${'\u0301'.repeat(8)}`.repeat(40),
    'word '.repeat(30),
  ])('are never too wide and lose nothing: %s', (text) => {
    for (const cells of [2, 7, 20, 39]) {
      const lines = wrapCells(text, cells);
      if (!text.includes('👩')) expect(Math.max(...lines.map(cellsOf))).toBeLessThanOrEqual(cells);
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    }
  });

  it('of a mebibyte without a space are many, and come at once', () => {
    const text = 'é'.repeat(2 ** 20);
    expect(wrapCells(text, 64)).toHaveLength(2 ** 14);
  });
});

describe('a cell', () => {
  it('shows that something is cut', () => {
    expect(cutTo('abcdef', 4)).toBe('abc…');
    expect(cutTo('abcd', 4)).toBe('abcd');
    expect(cellsOf(cutTo('你好世界', 6))).toBeLessThanOrEqual(6);
  });

  it('is filled by what is seen', () => {
    expect(padTo('你', 4)).toBe('你  ');
  });
});
