// What is no key: everything but the key itself. And what a key that lacks a scope learns: nothing.

import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSecret } from '../../src/services/keys/key-secret.ts';
import { ApiKeyService } from '../../src/services/keys/keys.ts';
import type { KeyStore } from '../../src/storage/stores.ts';
import { testLogs } from '../log-scan/test-logs.ts';
import { issueKey } from '../money/issue-key.ts';
import { GuardedServer } from './guarded-server.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX_LENGTH = 'ump_'.length;
const CHECKSUM_LENGTH = 6;

let server: GuardedServer;

beforeAll(async () => {
  server = await GuardedServer.start();
});

afterAll(() => server.dispose());

async function statusOf(secret: string): Promise<number> {
  return (await server.call({ method: 'GET', path: '/ai/v1/models', secret })).status;
}

/** With another character in that place. */
function changedAt(secret: string, place: number): string {
  const other = ALPHABET[(ALPHABET.indexOf(secret[place] ?? '') + 1) % ALPHABET.length];
  return secret.slice(0, place) + other + secret.slice(place + 1);
}

/** As a forger makes it: the checksum is right. */
function withChecksum(secret: string): string {
  const random = secret.slice(PREFIX_LENGTH, -CHECKSUM_LENGTH);
  let rest = crc32(random);
  let checksum = '';
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit++) {
    checksum = ALPHABET[rest % ALPHABET.length] + checksum;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return secret.slice(0, -CHECKSUM_LENGTH) + checksum;
}

describe('a key', () => {
  it('with one character changed is refused, whichever it is', async () => {
    const { secret } = server.caller;
    expect(await statusOf(secret)).toBe(200);
    const forged = Array.from({ length: secret.length }, (_, place) => changedAt(secret, place));
    const statuses = await Promise.all(forged.map(statusOf));
    expect(statuses).toEqual(Array(secret.length).fill(401));
  });

  it('with one character changed and its checksum made right is refused', async () => {
    const { secret } = server.caller;
    expect(withChecksum(secret)).toBe(secret);
    const places = Array.from({ length: secret.length - PREFIX_LENGTH - CHECKSUM_LENGTH }, (_, i) => i + PREFIX_LENGTH);
    const statuses = await Promise.all(places.map((place) => statusOf(withChecksum(changedAt(secret, place)))));
    expect(statuses).toEqual(Array(places.length).fill(401));
  });

  it.each([
    ['in other case', (secret: string) => secret.toUpperCase()],
    ['cut', (secret: string) => secret.slice(0, -1)],
    ['with more behind', (secret: string) => `${secret}0`],
    ['twice', (secret: string) => secret + secret],
    ['in quotes', (secret: string) => `"${secret}"`],
    ['as a pattern', () => 'ump_%'],
    ['as its shown beginning', (secret: string) => secret.slice(0, 8)],
    ['as SQL', () => `ump_'OR'1'='1`],
    ['as a name of every object', () => '__proto__'],
    ['very long', () => 'ump_'.padEnd(8000, '0')],
  ])('%s is refused', async (_what, change) => {
    expect(await statusOf(change(server.caller.secret))).toBe(401);
  });

  it('is refused in the same words for every reason', async () => {
    const revoked = await issueKey(server.address);
    const disabled = await issueKey(server.address);
    await server.administer('POST', `/keys/${revoked.id}/revoke`);
    await server.administer('PATCH', `/keys/${disabled.id}`, { disabled: true });
    const unknown = createSecret();
    testLogs.keepSecret(unknown);
    const secrets = [revoked.secret, disabled.secret, unknown, changedAt(server.caller.secret, 9)];
    const replies = await Promise.all(secrets.map((secret) => server.decide(secret)));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(replies[0]?.json.error.code).toBe('invalid_api_key');
  });

  it('reaches the store as a hash alone, so that no comparison can tell how much of a guess is right', async () => {
    const asked: unknown[] = [];
    const findByHash: KeyStore['findByHash'] = async (hash) => {
      asked.push(hash);
      return undefined;
    };
    const unused = (): never => {
      throw new Error('Nobody asked for this.');
    };
    const store: KeyStore = {
      findByHash,
      insert: unused,
      listSecretHashes: unused,
      findById: unused,
      list: unused,
      update: unused,
      revoke: unused,
      rotate: unused,
      count: unused,
    };
    const keys = new ApiKeyService({ store, fixedSecret: 'a-fixed-key-of-some-length' });
    const secret = createSecret();
    await expect(keys.authenticate(secret)).rejects.toThrow('The API key is not valid.');
    await expect(keys.authenticate('a-fixed-key-of-some-lengtH')).rejects.toThrow('The API key is not valid.');
    expect(asked).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  it('is shown once: no admin route tells it again, nor its hash', async () => {
    const { id, secret } = await issueKey(server.address);
    await server.administer('POST', `/keys/${id}/rotate`, { overlap_seconds: 60 });
    const paths = ['/keys', `/keys/${id}`, '/audit', '/usage', '/requests'];
    const replies = await Promise.all(paths.map((path) => server.administer('GET', path)));
    for (const { status, text } of replies) {
      expect(status).toBe(200);
      expect(text).not.toContain(secret.slice(8));
      expect(text).not.toMatch(/ump_[0-9A-Za-z]{38}|[0-9a-f]{64}/);
    }
  });
});

describe('a key without the scope `inference`', () => {
  it.each([
    ['GET', '/ai/v1/models'],
    ['GET', '/ai/v1/usage'],
    ['POST', '/ai/v1/systemone'],
    ['POST', '/ai/v1/embeddings'],
    ['POST', '/ai/v1/rerank'],
    ['POST', '/ai/v1/chat/completions'],
  ])('%s %s: 403', async (method, path) => {
    const reply = await server.call({ method, path, secret: server.admin.secret });
    expect([reply.status, reply.json.error.code]).toEqual([403, 'insufficient_scope']);
  });
});

describe('the usage of another key', () => {
  it('cannot be asked for', async () => {
    const [victim, spy] = [await issueKey(server.address), await issueKey(server.address)];
    expect((await server.decide(victim.secret)).status).toBe(200);
    const own = await server.call({ method: 'GET', path: '/ai/v1/usage', secret: spy.secret });
    expect([own.status, own.json.key]).toEqual([200, spy.id]);
    for (const name of ['key', 'key_id', 'keyId', 'id', 'api_key']) {
      const path = `/ai/v1/usage?${name}=${victim.id}`;
      const { status, text, json } = await server.call({ method: 'GET', path, secret: spy.secret });
      expect(text).not.toContain(victim.id);
      if (status === 200) expect(json).toMatchObject({ key: spy.id, totals: own.json.totals });
      else expect(status).toBe(400);
    }
    const grouped = await server.call({ method: 'GET', path: '/ai/v1/usage?group_by=key', secret: spy.secret });
    expect(grouped.status).toBe(400);
    for (const path of [`/admin/v1/usage?key=${spy.id}`, `/admin/v1/keys/${spy.id}`, '/admin/v1/requests']) {
      expect((await server.call({ method: 'GET', path, secret: spy.secret })).status).toBe(403);
    }
  });

  it('nor its replies: an idempotency key counts for one API key', async () => {
    const [first, second] = [await issueKey(server.address), await issueKey(server.address)];
    const headers = { 'idempotency-key': 'the-same-for-both' };
    const replies = [await server.decide(first.secret, headers), await server.decide(second.secret, headers)];
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(replies.map((reply) => reply.headers.get('idempotent-replayed'))).toEqual([null, null]);
  });
});
