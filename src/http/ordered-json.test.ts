import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonSyntaxError, type JsonValue, MAX_JSON_DEPTH, parseOrderedJson } from './ordered-json.ts';

/** What JSON.parse would have built; own properties only, so that `__proto__` is one too. */
function toPlain(value: JsonValue): unknown {
  if (value instanceof Map) {
    const object = {};
    for (const [name, item] of value) {
      Object.defineProperty(object, name, {
        value: toPlain(item),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return object;
  }
  return Array.isArray(value) ? value.map(toPlain) : value;
}

type Outcome = { readonly value: unknown } | 'refused';

function outcome(parse: () => unknown): Outcome {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonSyntaxError) return 'refused';
    throw error;
  }
}

/** JSON.parse takes names given twice; texts with some are compared apart. */
const refusesDuplicates = (text: string) => {
  try {
    parseOrderedJson(text);
    return false;
  } catch (error) {
    return error instanceof JsonSyntaxError && error.message.startsWith('the same name twice');
  }
};

describe('parseOrderedJson', () => {
  it('reads every JSON value that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(toPlain(parseOrderedJson(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('takes and refuses exactly what JSON.parse does, on text near JSON', () => {
    const token = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"', '\\', '"a"', '"\\u00e9"', '"\\ud800"', '"\\x"', '"\\u12"', '"\\"', '\\"'],
      ...['0', '-0', '01', '1.', '.5', '1.5e3', '1e+', '-', '1E-400', '9e999', 'true', 'false', 'null', 'nul', 'NaN'],
      ...[' ', '\n', '\t', '\r', '\f', '\u00a0', '\ufeff', '\u0000', '"\u0001"', '"\u007f"', '"\u2028"', '/**/', "'a'"],
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
        const text = tokens.join('');
        fc.pre(!refusesDuplicates(text));
        expect(outcome(() => toPlain(parseOrderedJson(text)))).toEqual(outcome(() => JSON.parse(text)));
      }),
      { numRuns: 5000 },
    );
  });

  it('takes and refuses exactly what JSON.parse does, on JSON with one character changed', () => {
    const edit = fc.record({
      at: fc.nat(),
      character: fc.constantFrom('', '"', '\\', ',', '{', ']', '\n', '0', 'e', '-'),
    });
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), edit, (json, { at, character }) => {
        const index = at % (json.length + 1);
        const text = json.slice(0, index) + character + json.slice(index + 1);
        fc.pre(!refusesDuplicates(text));
        expect(outcome(() => toPlain(parseOrderedJson(text)))).toEqual(outcome(() => JSON.parse(text)));
      }),
      { numRuns: 2000 },
    );
  });

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
    for (const text of texts) {
      const startMs = performance.now();
      outcome(() => parseOrderedJson(text));
      // Quadratic would be hours; the bound leaves room for a busy machine.
      expect(performance.now() - startMs).toBeLessThan(5000);
    }
  });
});
