// Replies as a client gets them that can unpack: the same bytes, packed where it pays, streams never.

import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminServer } from '../application/admin-server.ts';
import { KEY, startTestServer, type TestServer } from '../application/test-server.ts';
import { startChat } from '../contract/openai-chat-fixture.ts';
import { answerHello } from '../upstream/upstream-answers.ts';

const DECODERS = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
  deflate: inflateSync,
} as const;
const authorization = `Bearer ${KEY}`;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ cors: ['https://app.example.com'] });
});
afterAll(async () => await server.app.close());

const get = (url: string, headers: Record<string, string>) =>
  server.app.inject({ url, headers: { authorization, ...headers } });

describe('a large reply', () => {
  it.each(Object.entries(DECODERS))('is packed with %s and is the same', async (encoding, decode) => {
    const plain = await get('/openapi.json', {});
    const packed = await get('/openapi.json', { 'accept-encoding': encoding });
    expect([plain.statusCode, plain.headers['content-encoding']]).toEqual([200, undefined]);
    expect([packed.statusCode, packed.headers['content-encoding']]).toEqual([200, encoding]);
    expect(packed.headers['vary']).toMatch(/accept-encoding/i);
    expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 4);
    expect(decode(packed.rawPayload).equals(plain.rawPayload)).toBe(true);
  });

  it.each([
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['*', 'gzip'],
    ['identity', undefined],
    ['lzma', undefined],
    ['', undefined],
  ])('for a client that takes "%s" is %s', async (accepted, encoding) => {
    expect((await get('/openapi.json', { 'accept-encoding': accepted })).headers['content-encoding']).toBe(encoding);
  });

  it('varies with the origin as well, where origins are configured', async () => {
    const headers = { 'accept-encoding': 'gzip', origin: 'https://app.example.com' };
    const { vary } = (await get('/openapi.json', headers)).headers;
    expect(String(vary).toLowerCase().split(/, */).toSorted()).toEqual(['accept-encoding', 'origin']);
  });

  it('of metrics is packed too', async () => {
    expect((await get('/metrics', { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe('gzip');
  });
});

describe('what does not pay', () => {
  it('is sent as it is: short replies, and vectors that are few', async () => {
    const headers = { 'accept-encoding': 'gzip, br, zstd' };
    const models = await get('/healthz', headers);
    const input = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    const vectors = await server.post('/ai/v1/embeddings', { model: 'text-embed-mini', input }, headers);
    expect([models.headers['content-encoding'], vectors.headers['content-encoding']]).toEqual([undefined, undefined]);
    expect(vectors.json.data).toHaveLength(20);
  });
});

describe('a stream is never packed:', () => {
  it('events of a chat', async () => {
    const { baseURL } = await startChat(answerHello);
    const reply = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'accept-encoding': 'gzip, br, zstd' },
      body: JSON.stringify({ model: 'llama', stream: true, messages: [{ role: 'user', content: 'Hi '.repeat(2000) }] }),
    });
    expect([reply.status, reply.headers.get('content-encoding')]).toEqual([200, null]);
    expect(await reply.text()).toContain('data: [DONE]');
  });

  it('rows as CSV', async () => {
    const admin = await AdminServer.start();
    try {
      const caller = await admin.createCaller({ scopes: ['admin'] });
      const headers = { accept: 'text/csv', 'accept-encoding': 'gzip' };
      const reply = await admin.get('/admin/v1/usage?from=2026-11-01T00:00:00Z&group_by=key', caller, headers);
      expect([reply.status, reply.headers['content-encoding']]).toEqual([200, undefined]);
      expect(reply.headers['content-type']).toContain('text/csv');
    } finally {
      await admin.close();
    }
  });
});
