// Fixed seeds: the same texts every time. Random ones are in test/long/json.test.ts.

import { describe, expect, it } from 'vitest';
import { parseOrderedJson, parsePlainJson } from '../../src/domain/json.ts';
import { agreesOnChangedJson, agreesOnJson, agreesOnNames, agreesOnTokens } from './json-agreement.ts';
import { readTree, toObjects } from './json-oracle.ts';

const SEED = 783_407_949;

describe('our parser and the oracle agree on', () => {
  it('JSON', () => agreesOnJson({ seed: SEED, numRuns: 300 }));
  it('texts near JSON', () => agreesOnTokens({ seed: SEED, numRuns: 5000 }));
  it('JSON with one character changed', () => agreesOnChangedJson({ seed: SEED, numRuns: 2000 }));
  it('names with escapes, one text after the other', () => agreesOnNames({ seed: SEED, numRuns: 1000 }));
});

describe('a text', () => {
  // In Node 24 the built-in parser gives the second text the name of the first.
  const FIRST = '{"n":null," WI2n\\\\":false,"z":1}';
  const SECOND = '{"n":null," WI2n\\"":false,"z":1}';

  it('has its own names, whatever was parsed before it', () => {
    for (const text of [FIRST, SECOND, FIRST, SECOND]) {
      const name = text === FIRST ? ' WI2n\\' : ' WI2n"';
      expect(Object.keys(parsePlainJson(text) as object)).toEqual(['n', name, 'z']);
      expect([...(parseOrderedJson(text) as ReadonlyMap<string, unknown>).keys()]).toEqual(['n', name, 'z']);
    }
  });
});

describe('the oracle', () => {
  it.each([
    ['{"a":[1,{"b":null}],"a":-0.5e+2}', { a: -50 }],
    [' [ "\\ud83d\\ude00\\/\\b" , true ] ', ['😀/\b', true]],
    ['{"__proto__":1}', JSON.parse('{"__proto__":1}')],
  ])('reads %s', (text, value) => {
    const tree = readTree(text);
    expect(tree && toObjects(tree)).toEqual(value);
  });

  it.each(['', '01', '1.', '+1', '[1,]', '{"a":1,}', '{a:1}', '"\\x"', '"\\u12g4"', '"\n"', 'tru', '1 2', '\ufeff1'])(
    'refuses %j',
    (text) => expect(readTree(text)).toBeUndefined(),
  );
});
