// Paths as the router sees them.

import { describe, expect, it } from 'vitest';
import { normalisePath } from './request-path.ts';

describe('a path', () => {
  it.each([
    ['/ai/v1/models', '/ai/v1/models'],
    ['/ai/v1/models/', '/ai/v1/models'],
    ['/ai/v1/models///?a=/', '/ai/v1/models?a=/'],
    ['/ai//v1//models', '/ai/v1/models'],
    ['//ai/v1/models', '/ai/v1/models'],
    ['/ai/v1', '/ai/v1'],
    ['/ai/v1/', '/ai/v1'],
    ['/v1/models', '/ai/v1/models'],
    ['/v1/models/?x', '/ai/v1/models?x'],
    ['//v1//chat/completions', '/ai/v1/chat/completions'],
    ['/v1', '/ai/v1'],
    ['/v1?a', '/ai/v1?a'],
    ['/v12/models', '/v12/models'],
    ['/ai/v1x/models', '/ai/v1x/models'],
    ['/admin/v1/keys/', '/admin/v1/keys'],
    ['//admin/v1/keys', '//admin/v1/keys'],
    ['/x/v1/models', '/x/v1/models'],
    ['/', '/'],
    ['//', '/'],
    ['*', '*'],
    ['', ''],
    ['?a', '?a'],
    ['/v1/models/a%2Fb/', '/ai/v1/models/a%2Fb'],
  ])('%j is %j', (url, expected) => expect(normalisePath(url, true)).toBe(expected));

  it('without the short base is found under the long one alone', () => {
    expect(normalisePath('/v1/models/', false)).toBe('/v1/models');
    expect(normalisePath('/ai//v1/models/', false)).toBe('/ai/v1/models');
  });

  it('of nothing but slashes is read in time that grows with its length', () => {
    const slashes = '/'.repeat(1_000_000);
    expect(normalisePath(slashes, true)).toBe('/');
    expect(normalisePath(`${slashes}x`, true)).toHaveLength(1_000_001);
  });
});
