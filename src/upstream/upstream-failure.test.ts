import { describe, expect, it } from 'vitest';
import { brokenByUpstream } from './upstream-failure.ts';

function networkError(code: string, fields: object = {}): Error {
  return Object.assign(new Error('connect 10.0.0.1:443'), { code, ...fields });
}

describe('a broken connection', () => {
  it.each([
    ['UND_ERR_CONNECT_TIMEOUT', 'upstream_timeout'],
    ['ETIMEDOUT', 'upstream_timeout'],
    ['ECONNREFUSED', 'upstream_error'],
    ['ENOTFOUND', 'upstream_error'],
    ['UND_ERR_SOCKET', 'upstream_error'],
    ['CERT_HAS_EXPIRED', 'upstream_error'],
  ])('by %s is %s, and its address is for the log alone', (code, expected) => {
    const error = brokenByUpstream(networkError(code));
    expect(error.code).toBe(expected);
    expect(error.message).not.toContain('10.0.0.1');
    expect(String(error.cause)).toContain(code);
  });

  it('brings nothing of the reply into the log', () => {
    const error = brokenByUpstream(networkError('HPE_INVALID_CONSTANT', { data: 'private' }));
    expect(JSON.stringify({ ...error, ...Object(error.cause) })).not.toContain('private');
  });
});
