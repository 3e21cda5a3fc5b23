// Bodies on their way in: encoded, too large, with too many values, more of them at once than there is room for.

import type { IncomingMessage } from 'node:http';
import {
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  brotliCompressSync as slowBrotli,
  zstdCompressSync,
} from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { KEV_KEY, KEY, startTestServer, type TestServer } from '../application/test-server.ts';
import { turns, until } from '../waiting/until.ts';

const MIB = 1024 * 1024;
const SYSTEMONE = '/ai/v1/systemone';
const EMBEDDINGS = '/ai/v1/embeddings';
const CHAT = '/ai/v1/chat/completions';

const decision = {
  model: 'kev',
  state: 'Zahlung doppelt — bitte prüfen. '.repeat(200),
  questions: { q: { type: 'noul', instructions: 'Is it about money?' } },
};
const embedding = { model: 'text-embed-mini', input: 'one text' };
const chat = { model: 'llama', messages: [{ role: 'user', content: 'Hi' }] };

let server: TestServer;
afterEach(async () => await server.app.close());

const brotliCompressSync = (bytes: Buffer) => slowBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
const ENCODERS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  GZIP: gzipSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  deflate: deflateSync,
} as const;

async function sendEncoded(path: string, encoding: string, body: Buffer) {
  return await server.send('POST', path, body, { 'content-type': 'application/json', 'content-encoding': encoding });
}

/** Node 22 takes the end of a zstd stream that was cut for its end: nothing of it came out, or JSON that is no JSON. */
function isBlindToCuts(encoding: string): boolean {
  return encoding === 'zstd' && Number(process.versions.node.split('.')[0]) < 24;
}

describe('encoded bodies', () => {
  it.each(Object.entries(ENCODERS))(
    'of %s get the same answer as plain ones, on every route',
    async (encoding, encode) => {
      server = await startTestServer();
      for (const [path, body] of [
        [SYSTEMONE, decision],
        [EMBEDDINGS, embedding],
        [CHAT, chat],
      ] as const) {
        const plain = await server.post(path, body);
        const encoded = await sendEncoded(path, encoding, encode(Buffer.from(JSON.stringify(body))));
        expect([encoded.status, encoded.text]).toEqual([200, plain.text]);
      }
    },
  );

  it('may have the bare format of deflate too', async () => {
    server = await startTestServer();
    const reply = await sendEncoded(SYSTEMONE, 'deflate', deflateRawSync(JSON.stringify(decision)));
    expect(reply.status).toBe(200);
  });

  it.each(Object.entries(ENCODERS))('of %s that are cut, or no such thing, are a 400', async (encoding, encode) => {
    server = await startTestServer();
    const whole = encode(Buffer.from(JSON.stringify(decision)));
    for (const body of [
      whole.subarray(0, whole.length - 12),
      Buffer.from('{"model":"kev"}'),
      Buffer.from([0x28, 0xb5]),
    ]) {
      const { status, json } = await sendEncoded(SYSTEMONE, encoding, body);
      expect([status, json.error.code]).toEqual([400, 'invalid_request']);
      expect(json.error.message).toMatch(
        isBlindToCuts(encoding) ? /Content-Encoding|not valid|empty/ : /Content-Encoding|not valid/,
      );
    }
  });

  it('of nothing are empty', async () => {
    server = await startTestServer();
    for (const [encoding, encode] of Object.entries(ENCODERS)) {
      const { status, json } = await sendEncoded(SYSTEMONE, encoding, encode(Buffer.alloc(0)));
      expect([status, json.error.message]).toEqual([400, 'The body is empty; it must be a JSON object.']);
    }
  });

  it('of another kind are told which there are', async () => {
    server = await startTestServer();
    for (const encoding of ['lzma', 'gzip, br', 'constructor', '*']) {
      const { status, json } = await sendEncoded(SYSTEMONE, encoding, Buffer.from('{}'));
      expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', 'Content-Encoding']);
      expect(json.error.message).toContain('gzip, br, zstd, deflate');
    }
  });

  it.each(Object.entries(ENCODERS))(
    'of %s that are a bomb are a 413 and take little memory',
    async (encoding, encode) => {
      server = await startTestServer();
      const bomb = encode(Buffer.alloc(128 * MIB, ' '));
      const before = process.memoryUsage();
      const { status, json } = await sendEncoded(EMBEDDINGS, encoding, bomb);
      const after = process.memoryUsage();
      expect([status, json.error.code]).toEqual([413, 'request_too_large']);
      expect(json.error.message).toContain('8,388,608 bytes (8 MiB)');
      expect(after.heapTotal + after.external - before.heapTotal - before.external).toBeLessThan(100e6);
    },
  );

  it('of the admin routes and with an Idempotency-Key are those that are meant', async () => {
    server = await startTestServer();
    const body = zstdCompressSync(JSON.stringify(decision));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'zstd', 'idempotency-key': 'once' };
    expect((await server.send('POST', SYSTEMONE, body, headers)).status).toBe(200);
  });
});

describe('limits of a body', () => {
  const spaces = (bytes: number, body: object) => JSON.stringify(body).padEnd(bytes, ' ');

  it.each([
    [SYSTEMONE, { ...decision, state: 'ascii' }, 2 * MIB, '2,097,152 bytes (2 MiB)'],
    [EMBEDDINGS, embedding, 8 * MIB, '8,388,608 bytes (8 MiB)'],
    [CHAT, chat, 8 * MIB, '8,388,608 bytes (8 MiB)'],
  ])('let %s take its bytes and not one more', async (path, body, limit, told) => {
    server = await startTestServer();
    expect((await server.post(path, spaces(limit, body))).status).toBe(200);
    const { status, json } = await server.post(path, spaces(limit + 1, body));
    expect([status, json.error.code]).toEqual([413, 'request_too_large']);
    expect(json.error.message).toContain(told);
  });

  it('are the configured ones', async () => {
    server = await startTestServer({ bodyLimitBytes: 4096, decisionBodyLimitBytes: 8192 });
    for (const path of [SYSTEMONE, EMBEDDINGS, CHAT]) {
      const { status, json } = await server.post(path, spaces(4097, chat));
      expect([status, json.error.message]).toEqual([413, expect.stringContaining('4,096 bytes (4 KiB)')]);
    }
  });

  it.each([SYSTEMONE, EMBEDDINGS, CHAT])('let %s refuse too many values before it builds any', async (path) => {
    server = await startTestServer();
    for (const value of ['{}', '[]', '0', '""', '{"a":1}', '[[1]]']) {
      const body = `{"model":"kev","x":[${`${value},`.repeat(120_000)}0]}`;
      const { status, json } = await server.post(path, body);
      expect([status, json.error.code]).toEqual([413, 'request_too_large']);
      expect(json.error.message).toContain('100,000 objects, arrays, strings, numbers and literals');
    }
  });

  it('leave room for 99,000 values', async () => {
    server = await startTestServer();
    const messages = Array.from({ length: 33_000 }, () => ({ role: 'user' }));
    expect((await server.post(CHAT, { model: 'llama', messages })).status).toBe(200);
  });

  it('leave room for as many numbers as token arrays may have, where these are taken', async () => {
    server = await startTestServer({ tokenArrays: 'model' });
    const input = Array.from({ length: 2000 }, () => Array.from({ length: 256 }, (_, id) => id));
    expect((await server.post(EMBEDDINGS, { model: 'text-embed-mini', input })).status).toBe(200);
  });
});

describe('room for bodies', () => {
  /** Sends a body but for its last byte. @returns what ends it, and the reply */
  function sendMost(port: number, key: string, body: string) {
    let finish = (): void => undefined;
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        const bytes = new TextEncoder().encode(body);
        controller.enqueue(bytes.subarray(0, -1));
        finish = () => {
          controller.enqueue(bytes.subarray(-1));
          controller.close();
        };
      },
    });
    const reply = fetch(`http://127.0.0.1:${port}${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    });
    return { reply, finish: () => finish() };
  }

  it('is bounded for each key: one more body waits, then hears 503, and other keys are served', async () => {
    server = await startTestServer({ bodiesBytes: 4 * MIB });
    const port = await listen();
    const body = JSON.stringify({ ...chat, x: 'x'.repeat(1.4 * MIB) });
    const first = sendMost(port, KEY, body);
    await untilHeld(body);
    const second = await post(port, KEY, CHAT, body);
    expect(second.status).toBe(503);
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await second.json()).toMatchObject({ error: { code: 'overloaded' } });
    expect((await post(port, KEV_KEY, SYSTEMONE, JSON.stringify(decision))).status).toBe(200);
    first.finish();
    expect((await first.reply).status).toBe(200);
    expect((await post(port, KEY, CHAT, body)).status).toBe(200);
  });

  it('waits for a body that is about to be done', async () => {
    server = await startTestServer({ bodiesBytes: 4 * MIB });
    const port = await listen();
    const body = JSON.stringify({ ...chat, x: 'x'.repeat(1.4 * MIB) });
    const first = sendMost(port, KEY, body);
    await untilHeld(body);
    const second = post(port, KEY, CHAT, body);
    await until('the second body is on its way', () => requests.length === 2);
    first.finish();
    expect([(await first.reply).status, (await second).status]).toEqual([200, 200]);
  });

  let requests: IncomingMessage[] = [];
  async function listen(): Promise<number> {
    requests = [];
    server.app.server.on('request', (request) => requests.push(request));
    await server.app.listen({ port: 0, host: '127.0.0.1' });
    const address = server.app.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** All but the last byte of the first body: the server holds them. */
  async function untilHeld(body: string): Promise<void> {
    await until('the first body is here', () => (requests[0]?.socket.bytesRead ?? 0) >= body.length);
    // What the socket has read is counted in the next turns.
    await turns(50);
  }

  async function post(port: number, key: string, path: string, body: string): Promise<Response> {
    return await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });
  }
});
