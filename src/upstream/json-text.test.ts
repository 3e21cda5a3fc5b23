import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editMembers, findValue, listMembers } from './json-text.ts';

function edit(text: string, edits: Record<string, string | undefined>): string {
  return editMembers(text, listMembers(text), new Map(Object.entries(edits)));
}

describe('JSON text', () => {
  it('keeps what it does not edit to the letter', () => {
    const text =
      '{"a": 12345678901234567890, "b":1.0,"__proto__":{"x":1},"model":"old","a":1e400, "é":"\\ud800 \\u0041"}';
    expect(edit(text, { model: '"new"' })).toBe(
      '{"a": 12345678901234567890,"b":1.0,"__proto__":{"x":1},"model":"new","a":1e400,"é":"\\ud800 \\u0041"}',
    );
  });

  it('finds a key however it is written', () => {
    expect(edit('{"\\u006dodel":"old"}', { model: '"new"' })).toBe('{"\\u006dodel":"new"}');
  });

  it('sets every member of the name, so that a duplicate cannot get past', () => {
    expect(edit('{"model":1,"x":2,"model":3}', { model: '9' })).toBe('{"model":9,"x":2,"model":9}');
  });

  it('removes and appends', () => {
    expect(edit('{"a":1,"b":2}', { a: undefined })).toBe('{"b":2}');
    expect(edit(' { } ', { a: undefined, b: 'null' })).toBe('{"b":null}');
  });

  it.each([
    ['{"a":"\\\\","b":1}', '"\\\\"'],
    ['{"a":"\\\\\\"","b":1}', '"\\\\\\""'],
    ['{"a":"}],{[","b":1}', '"}],{["'],
    ['{"a" : [ {"b":"]"} , [] ] ,"b":1}', '[ {"b":"]"} , [] ]'],
    ['{"a":-1.5E+3\n}', '-1.5E+3'],
    ['{"a":true}', 'true'],
    ['\r\n\t{"a":{}}', '{}'],
  ])('finds the end of the value in %s', (text, value) => {
    expect(findValue(text, listMembers(text), 'a')).toBe(value);
  });

  it('takes any nesting without running out of stack', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(edit(`{"deep":${deep},"model":1}`, { model: '2' })).toBe(`{"deep":${deep},"model":2}`);
  });

  it('finds what JSON.parse finds, for any object and any white space', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 1, '\t'), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        const values = listMembers(text).map(({ key, valueStart, valueEnd }) => [
          key,
          text.slice(valueStart, valueEnd),
        ]);
        const parsed: Record<string, unknown> = JSON.parse(text);
        expect(values.map(([key]) => key).sort()).toEqual(Object.keys(parsed).sort());
        for (const [key, value] of values) expect(JSON.parse(String(value))).toEqual(parsed[String(key)]);
      }),
    );
  });

  it('leaves a valid object whatever is set and removed', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), (object, key, value) => {
        const text = JSON.stringify(object);
        const set: Record<string, unknown> = JSON.parse(edit(text, { [key]: JSON.stringify(value) }));
        expect(Object.getOwnPropertyDescriptor(set, key)?.value).toEqual(JSON.parse(JSON.stringify(value)));
        const removed: Record<string, unknown> = JSON.parse(edit(text, { [key]: undefined }));
        expect(Object.keys(removed)).toEqual(Object.keys(object).filter((name) => name !== key));
      }),
    );
  });
});
