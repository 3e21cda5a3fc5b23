import { describe, expect, it } from 'vitest';
import { brokenByUpstream } from './upstream-failure.ts';

function networkError(code: string, fields: object = {}): Error {
  return Object.assign(new Error('connect 10.0.0.1:443'), { code, ...fields });
}

describe('a broken connection', () => {
  it.each([
    ['UND_ERR_CONNECT_TIMEOUT', false, 'upstream_timeout', 'connect'],
    ['ETIMEDOUT', false, 'upstream_timeout', 'connect'],
    ['ECONNREFUSED', false, 'upstream_error', 'connect'],
    ['ENOTFOUND', false, 'upstream_error', 'connect'],
    ['CERT_HAS_EXPIRED', false, 'upstream_error', 'connect'],
    ['UND_ERR_SOCKET', true, 'upstream_error', 'broken_reply'],
    ['ECONNRESET', true, 'upstream_error', 'broken_reply'],
  ] as const)('by %s, request sent: %s, is %s (%s), and its address is for the log alone', (code, wasSent, ...told) => {
    const error = brokenByUpstream(networkError(code), wasSent);
    expect([error.code, error.reason]).toEqual(told);
    expect(error.message).not.toContain('10.0.0.1');
    expect(String(error.cause)).toContain(code);
  });

  it('brings nothing of the reply into the log', () => {
    const error = brokenByUpstream(networkError('HPE_INVALID_CONSTANT', { data: 'private' }), true);
    expect(JSON.stringify({ ...error, ...Object(error.cause) })).not.toContain('private');
  });
});
