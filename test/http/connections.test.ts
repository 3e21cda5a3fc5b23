// Real sockets: clients that stall, leave, send too much or speak no HTTP, and a server that stops.

import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpOptions } from '../../src/http/server.ts';
import { KEY, startTestServer, type TestServer } from '../application/test-server.ts';

const decision = JSON.stringify({
  model: 'kev',
  state: '',
  questions: { q: { type: 'noul', instructions: '?' } },
});

let server: TestServer;
let sockets: Socket[] = [];

async function listen(options: Partial<HttpOptions> = {}): Promise<number> {
  server = await startTestServer(options);
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  return (server.app.server.address() as AddressInfo).port;
}

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  // The server may reset what it has given up; the tests look at what came before.
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

const head = (body: string, more = '') =>
  `POST /ai/v1/systemone HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-type: application/json\r\n${more}content-length: ${body.length}\r\n\r\n`;

/** Holds decisions until released; `arrived` resolves with the signal of the first. */
function holdDecisions() {
  const arrived = Promise.withResolvers<AbortSignal>();
  const released = Promise.withResolvers<void>();
  const { engine } = server;
  const { decide } = engine;
  engine.decide = async (job, caller) => {
    arrived.resolve(caller.signal);
    await released.promise;
    caller.signal.throwIfAborted();
    return decide(job, caller);
  };
  return { arrived: arrived.promise, release: () => released.resolve() };
}

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await server.app.close();
});

describe('clients that reset their connection as soon as they have asked', () => {
  it.each([[], ['127.0.0.1']])(
    'are no fault of ours, and nobody else notices (proxy: %s)',
    async (...trustedProxies) => {
      const port = await listen({ trustedProxies: trustedProxies.filter((one) => one !== undefined) });
      for (let round = 0; round < 40; round++) {
        const leaving = Array.from({ length: 5 }, () => open(port));
        await Promise.all(leaving.map((socket) => once(socket, 'connect')));
        for (const socket of leaving) socket.write(head(decision) + decision, () => socket.resetAndDestroy());
      }
      const socket = open(port);
      socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
      const reply = await text(socket);
      expect(reply).toMatch(/^HTTP\/1\.1 200 /);
      expect(reply).not.toContain('internal_error');
    },
  );
});

describe('slow clients', () => {
  const slow = { headersTimeoutMs: 200, requestTimeoutMs: 200 };
  /** So long that a machine that stands still for a moment does not make a sound request slow. */
  const slower = { headersTimeoutMs: 1000, requestTimeoutMs: 1000 };

  it.each([
    ['headers', 'GET /healthz HTTP/1.1\r\nhost: x\r\n'],
    ['a body', head(decision) + decision.slice(0, 10)],
  ])('that stall in %s get 408', async (_what, sent) => {
    const socket = open(await listen(slow));
    socket.write(sent);
    const reply = await text(socket);
    expect(reply).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(reply).toMatch(/\r\nx-request-id: req_/);
    expect(reply).toContain('"code":"request_timeout"');
  });

  it('that take in nothing of a long reply are disconnected', async () => {
    const port = await listen({ writeTimeoutMs: 200 });
    const vector = Float32Array.from({ length: 384 }, (_, index) => Math.sin(index));
    server.engine.embed = async ({ inputs }) => ({
      embeddings: inputs.map(() => vector),
      inputTokens: inputs.length,
      truncated: [],
      timings: { queueMs: 0, tokenizeMs: 0, inferMs: 0 },
      source: { answer: 'run', keptTokens: 0 },
    });
    const socket = open(port);
    const [peer] = (await once(server.app.server, 'connection')) as [Socket];
    const body = JSON.stringify({ model: 'text-embed-mini', input: Array(2048).fill('a') });
    socket.write(head(body).replace('systemone', 'embeddings') + body);
    // Nobody reads from the client's socket: what the system does not buffer stays with the server.
    await once(peer, 'close');
    const line = server.log.find(({ route }) => route === '/ai/v1/embeddings');
    expect(line).toMatchObject({ msg: 'request' });
  });

  it('are no reason to interrupt a model that takes its time', async () => {
    const port = await listen(slower);
    const { arrived, release } = holdDecisions();
    const socket = open(port);
    socket.write(head(decision, 'connection: close\r\n') + decision);
    await arrived;
    // Another client runs into the same limit while the first one waits for its answer.
    const other = open(port);
    other.write('GET');
    expect(await text(other)).toMatch(/^HTTP\/1\.1 408 /);
    release();
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('what is no request', () => {
  it.each([
    ['noise', '\u0016\u0003\u0001 no http\r\n\r\n'],
    ['enormous headers', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`],
    ['two lengths', `${head(decision, 'transfer-encoding: chunked\r\n')}${decision}`],
  ])('gets 400 in the one shape: %s', async (_what, sent) => {
    const socket = open(await listen());
    socket.write(sent);
    const reply = await text(socket);
    expect(reply).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(reply.slice(reply.indexOf('\r\n\r\n')))).toMatchObject({ error: { code: 'invalid_request' } });
  });
});

describe('large bodies', () => {
  it.each([
    ['a length', (body: Uint8Array<ArrayBuffer>) => body],
    ['chunks', (body: Uint8Array<ArrayBuffer>) => new Blob([body]).stream()],
  ])('of 10 MB get 413, sent with %s', async (_what, bodyOf) => {
    const port = await listen();
    const body = new Uint8Array(10_000_000).fill(0x20);
    const reply = await fetch(`http://127.0.0.1:${port}/ai/v1/systemone`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: bodyOf(body),
      duplex: 'half',
    });
    expect([reply.status, await reply.json()]).toMatchObject([413, { error: { code: 'request_too_large' } }]);
  });

  it('and bad ones leave the connection open for the next request', async () => {
    const socket = open(await listen());
    const healthz = 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    socket.write(
      `${head('{')}{${head(' '.repeat(9_000_000))}${' '.repeat(9_000_000)}GET /no HTTP/1.1\r\nhost: x\r\n\r\n${healthz}`,
    );
    const replies = await text(socket);
    expect(replies.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 413', 'HTTP/1.1 404', 'HTTP/1.1 200']);
    expect(replies).toMatch(/404 Not Found[^{]*connection: keep-alive/i);
  });

  it('without a key get 401 and are not read', async () => {
    const port = await listen();
    const reply = await fetch(`http://127.0.0.1:${port}/ai/v1/systemone`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Uint8Array(10_000_000),
    });
    expect(reply.status).toBe(401);
  });
});

describe('a client that leaves', () => {
  it('aborts its work and is counted, and nothing is logged as a failure', async () => {
    const port = await listen();
    const { arrived, release } = holdDecisions();
    const socket = open(port);
    socket.write(head(decision) + decision);
    const signal = await arrived;
    const aborted = once(signal, 'abort');
    socket.destroy();
    await aborted;
    release();
    // The refused job has been dealt with once a later request has been.
    await server.get('/healthz');
    const line = server.log.find(({ route }) => route === '/ai/v1/systemone');
    expect(line).toMatchObject({ msg: 'request', status: 499 });
    expect(server.log.filter(({ level }) => Number(level) > 30)).toEqual([]);
    expect((await server.get('/metrics')).text).toContain('umpire_http_requests_in_flight 1\n');
  });

  it('half-way through its request does no harm', async () => {
    const port = await listen();
    const socket = open(port);
    const closed = new Promise((resolve) =>
      server.app.server.once('connection', (peer) => peer.once('close', resolve)),
    );
    socket.write(head(decision) + decision.slice(0, 10));
    await once(server.app.server, 'request');
    socket.destroy();
    await closed;
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect(server.log.filter(({ level }) => Number(level) > 30)).toEqual([]);
  });
});

describe('a server that stops', () => {
  it('ends connections with their replies while draining', async () => {
    const port = await listen();
    const healthz = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
    const socket = open(port);
    socket.write(healthz);
    expect(String((await once(socket, 'data'))[0])).toMatch(/connection: keep-alive/i);
    server.engine.state = 'draining';
    socket.write(healthz);
    expect(await text(socket)).toMatch(/connection: close/i);
  });

  it('waits for what it owes and for nobody else', async () => {
    const port = await listen();
    const { arrived, release } = holdDecisions();
    const owed = open(port);
    owed.write(head(decision) + decision);
    await arrived;
    const stalled = open(port);
    stalled.write(head(decision) + decision.slice(0, 10));
    await once(server.app.server, 'request');
    const idle = open(port);
    await once(server.app.server, 'connection');

    const closed = server.app.close();
    expect(await Promise.all([text(idle), text(stalled)])).toEqual(['', '']);
    release();
    expect(await text(owed)).toMatch(/^HTTP\/1\.1 200 /);
    await closed;
  });
});
