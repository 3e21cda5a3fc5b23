import { describe, expect, it } from 'vitest';
import { JsonSyntaxError, type JsonValue, MAX_JSON_DEPTH, parseOrderedJson } from './json.ts';

function parseOrRefuse(text: string): void {
  try {
    parseOrderedJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
}

// What it reads and refuses is judged by an oracle in test/domain/json.oracle.test.ts.
describe('parseOrderedJson', () => {
  it('keeps the order of names, integer-like ones too', () => {
    const object = parseOrderedJson('{"10":1,"b":2,"2":3,"":4,"__proto__":5,"constructor":6,"a":7}');
    expect(object).toBeInstanceOf(Map);
    expect([...(object as Map<string, JsonValue>).keys()]).toEqual([
      '10',
      'b',
      '2',
      '',
      '__proto__',
      'constructor',
      'a',
    ]);
  });

  it.each([
    ['at the top', '{"a":1,"a":2}'],
    ['below', '{"q":[{"b":{"x":1,"y":2,"x":3}}]}'],
    ['in another spelling', '{"a":1,"\\u0061":2}'],
    ['of the prototype', '{"__proto__":1,"__proto__":2}'],
  ])('refuses the same name twice %s', (_where, text) => {
    expect(() => parseOrderedJson(text)).toThrow(/^the same name twice in one object at character \d+$/);
  });

  it('takes as many levels as it says and not one more', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(() => parseOrderedJson(nested(MAX_JSON_DEPTH))).not.toThrow();
    expect(() => parseOrderedJson(nested(MAX_JSON_DEPTH + 1))).toThrow(
      'more than 64 levels of nesting at character 64',
    );
    expect(() => parseOrderedJson('{"a":'.repeat(1_000_000))).toThrow(/levels of nesting/);
  });

  it('names the place and never the text', () => {
    expect(() => parseOrderedJson('{"secret": hidden}')).toThrow(/^expected a value at character 11$/);
    expect(() => parseOrderedJson('')).toThrow('expected a value at character 0');
    expect(() => parseOrderedJson('"abc')).toThrow('a string without its end at character 4');
    expect(() => parseOrderedJson('"a\\')).toThrow('a string without its end at character 3');
  });

  it('reads 8 MiB of hostile text in linear time', () => {
    const size = 8 * 1024 * 1024;
    const texts = [
      `"${'\\"'.repeat(size / 2)}"`,
      `"${'\\\\'.repeat(size / 2)}`,
      ' '.repeat(size),
      '-'.repeat(size),
      `${'1'.repeat(size)}`,
      `[${'"",'.repeat(size / 3)}`,
      '"\\u'.repeat(size / 4),
    ];
    // Quadratic would be hours: the test would never end.
    for (const text of texts) parseOrRefuse(text);
  });
});
