// Fixed seeds: the same texts every time. Random ones are in test/long/json.test.ts.

import { describe, expect, it } from 'vitest';
import { JsonReading, JsonSyntaxError, parseOrderedJson, parsePlainJson } from '../../src/domain/json.ts';
import { listMembers } from '../../src/upstream/json-text.ts';
import { agreesOnChangedJson, agreesOnJson, agreesOnNames, agreesOnTokens } from './json-agreement.ts';
import { readTree, toObjects } from './json-oracle.ts';

const SEED = 783_407_949;

describe('our parser and the oracle agree on', () => {
  it('JSON', () => agreesOnJson({ seed: SEED, numRuns: 300 }));
  it('texts near JSON', () => agreesOnTokens({ seed: SEED, numRuns: 5000 }));
  it('JSON with one character changed', () => agreesOnChangedJson({ seed: SEED, numRuns: 2000 }));
  it('names with escapes, one text after the other', () => agreesOnNames({ seed: SEED, numRuns: 1000 }));
});

describe('a long string', () => {
  it.each(['\\u4e2d', '\\"', '\\\\', 'ab\\n', '😀\\/', '\\ud83d\\ude00'])(
    'of %s is whole, as a value and as a name',
    (piece) => {
      const one = readTree(`"${piece}"`);
      const read = String(one?.kind === 'plain' && one.value).repeat(100_000);
      const text = `"${piece.repeat(100_000)}"`;
      expect(parsePlainJson(text)).toBe(read);
      const named = parseOrderedJson(`{${text}:[${text}]}`) as ReadonlyMap<string, readonly string[]>;
      expect([...named].flat(2)).toEqual([read, read]);
      for (const bad of [
        text.slice(0, -1),
        `${text.slice(0, -1)}\\"`,
        `${text.slice(0, -1)}\\u12"`,
        `"\n${text.slice(1)}`,
      ]) {
        expect(() => parsePlainJson(bad)).toThrow(JsonSyntaxError);
      }
    },
  );
});

describe('members of the outermost object', () => {
  it('are listed by their places, duplicates included, and no others', () => {
    const text = ' { "a" : [ {"a":1} ] , "\\u0061":2,"b":"x"}  ';
    const reading = new JsonReading(text, { objects: 'plain', duplicates: 'last', listsMembers: true });
    reading.advance();
    expect(reading.members).toEqual(listMembers(text));
    expect(reading.members.map(({ key, valueStart, valueEnd }) => [key, text.slice(valueStart, valueEnd)])).toEqual([
      ['a', '[ {"a":1} ]'],
      ['a', '2'],
      ['b', '"x"'],
    ]);
  });
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
