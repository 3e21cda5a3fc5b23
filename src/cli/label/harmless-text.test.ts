import { describe, expect, it } from 'vitest';
import { makeHarmless, makeHarmlessLine } from './harmless-text.ts';

describe('a text of somebody else', () => {
  it.each([
    ['steers nothing', '\u001b[2J\u001b]0;title\u0007', '␛[2J␛]0;title␇'],
    ['steers nothing by one byte', '\u009b2J', '<U+009B>2J'],
    ['has no NUL and no DEL', 'a\u0000b\u007f', 'a␀b␡'],
    ['turns nothing round', 'pay \u202eresu\u202c now', 'pay <U+202E>resu<U+202C> now'],
    ['isolates nothing', '\u2066x\u2069\u200f', '<U+2066>x<U+2069><U+200F>'],
    ['hides nothing', 'a\u200bb\ufeffc\u00add', 'a<U+200B>b<U+FEFF>c<U+00AD>d'],
    ['hides no words in tags', 'ok\u{e0068}\u{e0069}', 'ok<U+E0068><U+E0069>'],
    ['has whole characters', 'a\ud83d', 'a<U+D83D>'],
    ['keeps lines, of any system', 'a\r\nb\rc\u2028d\n\ne', 'a\nb\nc\nd\n\ne'],
    ['keeps tabs, letters of any script and emoji', 'a\tمرحبا 你好 👩‍👧 क्षि', 'a\tمرحبا 你好 👩‍👧 क्षि'],
  ])('%s', (_, text, shown) => {
    expect(makeHarmless(text)).toBe(shown);
  });

  it('piles no marks up', () => {
    expect(makeHarmless(`e${'\u0301'.repeat(50)}f`)).toBe(`e${'\u0301'.repeat(8)}f`);
  });

  it('is one line where that is wanted', () => {
    expect(makeHarmlessLine(' a\n\tb\u001b ')).toBe('a b␛');
  });
});
