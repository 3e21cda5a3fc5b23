// Whatever is sent: never a 5xx, always the error shape or a valid answer, and always a request id.

import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatUpstream } from '../../src/upstream/chat-upstream.ts';
import {
  arbitraryChat,
  arbitraryDecision,
  arbitraryEmbedding,
  arbitraryNoise,
  writeRequest,
} from './arbitrary-requests.ts';
import { expectDecision } from './expect-decision.ts';
import { expectRefusal } from './expect-refusal.ts';
import { LLAMA, startTestServer, type TestServer } from './test-server.ts';

const ECHO: ChatUpstream = {
  takes: () => true,
  models: [LLAMA],
  expect: () => ({ inputTokens: 1, cachedTokens: 0, outputTokens: 1 }),
  complete: async ({ bodyText }) => ({ bodyText, usage: undefined, outputEstimate: 1 }),
  stream: async ({ bodyText }) => ({
    chunks: Readable.from([{ json: bodyText }]),
    tokens: () => ({ usage: undefined, outputEstimate: 1 }),
  }),
  close: async () => undefined,
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({}, [ECHO]);
});
afterAll(() => server.app.close());

const route = fc.constantFrom('/ai/v1/systemone', '/ai/v1/embeddings', '/ai/v1/chat/completions');

describe('never a 5xx', () => {
  it('for decisions: a valid answer or the error shape', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(arbitraryDecision, async (body) => {
        const text = writeRequest(body);
        const reply = await server.post('/ai/v1/systemone', text);
        if (reply.status !== 200) return expectRefusal(reply.status, reply.text);
        answered += 1;
        expectDecision(text, reply.text);
      }),
      { numRuns: 1500 },
    );
    // The generators are of no use when nothing they make is good.
    expect(answered).toBeGreaterThan(50);
  });

  it('for embeddings', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(arbitraryEmbedding, async (body) => {
        const reply = await server.post('/ai/v1/embeddings', writeRequest(body));
        if (reply.status !== 200) return expectRefusal(reply.status, reply.text);
        answered += 1;
        const input = Array.isArray(body.input) && typeof body.input[0] !== 'number' ? body.input : [body.input];
        expect(reply.json.data).toHaveLength(input.length);
      }),
      { numRuns: 500 },
    );
    expect(answered).toBeGreaterThan(25);
  });

  it('for chat', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryChat, async (body) => {
        const reply = await server.post('/ai/v1/chat/completions', writeRequest(body));
        if (reply.status !== 200) expectRefusal(reply.status, reply.text);
      }),
      { numRuns: 300 },
    );
  });

  it('for noise on any route', async () => {
    await fc.assert(
      fc.asyncProperty(route, arbitraryNoise, async (path, body) => {
        const reply = await server.post(path, body);
        expectRefusal(reply.status, reply.text);
      }),
      { numRuns: 1000 },
    );
  });

  it('for good requests with bytes changed', async () => {
    const edit = fc.record({ at: fc.nat(), bytes: fc.uint8Array({ maxLength: 3 }) });
    await fc.assert(
      fc.asyncProperty(arbitraryDecision, edit, async (body, { at, bytes }) => {
        const text = Buffer.from(writeRequest(body));
        const index = at % (text.length + 1);
        const edited = Buffer.concat([text.subarray(0, index), bytes, text.subarray(index + 1)]);
        const reply = await server.post('/ai/v1/systemone', edited);
        if (reply.status !== 200) expectRefusal(reply.status, reply.text);
      }),
      { numRuns: 500 },
    );
  });

  it('for any path, method and headers', async () => {
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');
    const path = fc.oneof(
      fc.webPath().map((suffix) => `/ai/v1${suffix}`),
      fc.webPath().map((suffix) => `/${suffix}`),
      route,
    );
    const header = fc.stringMatching(/^[\x20-\x7e]{0,40}$/);
    await fc.assert(
      fc.asyncProperty(method, path, header, header, header, async (verb, url, authorization, type, id) => {
        const headers = { authorization, 'content-type': type, 'x-request-id': id, origin: authorization };
        const reply = await server.app.inject({ method: verb, url, headers, payload: '{}' });
        expect(reply.statusCode).toBeLessThan(500);
        expect(reply.headers['x-request-id']).toMatch(/^[\x21-\x7e]{1,128}$/);
      }),
      { numRuns: 500 },
    );
  });
});
