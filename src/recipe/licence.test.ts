import { describe, expect, it } from 'vitest';
import { describeLicence } from './licence.ts';

describe('a licence', () => {
  it.each([
    ['apache-2.0', 'Apache-2.0'],
    ['mit', 'MIT'],
    ['cc-by-4.0', 'CC-BY-4.0'],
  ])('of the usual kind has its name and no condition: %s', (stated, name) => {
    expect(describeLicence(stated, undefined)).toEqual({ name, condition: undefined });
  });

  it.each([
    [undefined, undefined, 'unknown', /states no licence/],
    ['unknown', undefined, 'unknown', /states no licence/],
    ['cc-by-nc-4.0', undefined, 'CC-BY-NC-4.0', /commercial/],
    ['gemma', undefined, 'gemma', /conditions of its own/],
    ['llama3.1', undefined, 'llama3.1', /conditions of its own/],
    ['other', 'my-licence', 'my-licence', /conditions of its own/],
    ['constructor', undefined, 'constructor', /conditions of its own/],
  ])('must be accepted: %s', (stated, given, name, condition) => {
    const licence = describeLicence(stated, given);
    expect(licence.name).toBe(name);
    expect(licence.condition).toMatch(condition);
  });
});
