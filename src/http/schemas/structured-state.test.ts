// JSON states as text.

import { describe, expect, it } from 'vitest';
import { parseOrderedJson } from '../../domain/json.ts';
import { renderState, withStateAsText } from './structured-state.ts';

describe('a structured state', () => {
  it.each([
    [
      '{"subject":"Refund","customer":{"name":"Jane","orders":2,"vip":true,"note":null}}',
      'subject: Refund\ncustomer name: Jane\ncustomer orders: 2\ncustomer vip: true\ncustomer note: none',
    ],
    ['{"tags":["urgent","billing"],"empty":[],"nothing":{}}', 'tags: urgent, billing\nempty:\nnothing:'],
    [
      '[{"role":"user","text":"Hi"},{"role":"bot","text":"Hello"}]',
      '1 role: user\n1 text: Hi\n2 role: bot\n2 text: Hello',
    ],
    ['["one","two"]', 'one, two'],
    ['[[1,2],[3]]', '1: 1, 2\n2: 3'],
    ['{}', ''],
    ['{"10":"a","2":"b","__proto__":"c"}', '10: a\n2: b\n__proto__: c'],
  ])('%s is read as labelled lines, in the order of the text', (json, expected) => {
    expect(renderState(parseOrderedJson(json))).toBe(expected);
  });

  it.each([
    [
      '[{"type":"text","text":"A mail."},{"type":"json","value":{"name":"Jane","orders":[1,2]}}]',
      'A mail.\nname: Jane\norders: 1, 2',
    ],
    ['[{"type":"json","value":{"name":"Jane"}}]', 'name: Jane'],
    [
      '[{"type":"text","text":"A mail."},{"type":"file","data":"x"}]',
      '1 type: text\n1 text: A mail.\n2 type: file\n2 data: x',
    ],
  ])('%s, a list of parts, is read as each of them would be alone', (json, expected) => {
    const body = parseOrderedJson(`{"state":${json}}`);
    expect((withStateAsText(body) as Map<string, unknown>).get('state')).toBe(expected);
  });

  it('is rendered in its place, and nothing else is touched', () => {
    const body = parseOrderedJson('{"model":"kev","state":{"a":1},"questions":{"q":{}}}');
    expect([...(withStateAsText(body) as Map<string, unknown>)]).toEqual([
      ['model', 'kev'],
      ['state', 'a: 1'],
      ['questions', new Map([['q', new Map()]])],
    ]);
  });

  it.each(['{"state":"text"}', '{"state":5}', '{"state":null}', '{"state":true}', '{}', '[]', '"text"'])(
    'is not what %s has: the body stays as it is',
    (json) => {
      const body = parseOrderedJson(json);
      expect(withStateAsText(body)).toBe(body);
    },
  );

  it.each([
    [
      'one long name',
      `{"${'n'.repeat(10_000)}":{${Array.from({ length: 1000 }, (_, index) => `"${index}":1`).join()}}}`,
    ],
    [
      'many parts',
      `[${Array.from({ length: 300 }, () => `{"type":"json","value":{"${'n'.repeat(4000)}":[{},{},{}]}}`).join()}]`,
    ],
  ])('is refused where it becomes far more text than it was: %s', (_what, json) => {
    const body = parseOrderedJson(`{"state":${json}}`);
    expect(() => withStateAsText(body)).toThrow(/makes more than 2,097,152 characters/);
  });
});
