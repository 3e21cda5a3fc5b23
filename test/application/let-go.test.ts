// What becomes of a chat's body once it was sent: nothing here keeps it while the answer is still to come.

import { type ClientRequest, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, it } from 'vitest';
import { HttpChatUpstream } from '../../src/upstream/http-chat-upstream.ts';
import { chatUpstreamOptions } from '../upstream/upstream-fixture.ts';
import { turns, until } from '../waiting/until.ts';
import { KEY, startTestServer } from './test-server.ts';

const MIB = 1024 * 1024;
const REQUESTS = 12;
const BODY_BYTES = 6 * MIB;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** An upstream that keeps nothing of what it is sent, begins an answer and never ends it. */
async function startSilentUpstream(beginsAnswer: boolean) {
  let received = 0;
  const upstream = createServer((incoming, response) => {
    incoming.resume().once('end', () => {
      received += 1;
      if (beginsAnswer) response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const { port } = upstream.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, received: () => received };
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function memoryBytes(): Promise<number> {
  // What was let go in the last rounds of the event loop is found by a later collection only.
  for (let rounds = 0; rounds < 3; rounds++) {
    collect();
    await turns(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

it.each([
  ['a stream', true],
  ['an answer at once', false],
])('%s does not keep the body that asked for it', async (_what, stream) => {
  const silent = await startSilentUpstream(stream);
  const options = chatUpstreamOptions(silent.baseUrl);
  const upstream = new HttpChatUpstream(options);
  const server = await startTestServer({ bodiesBytes: 64 * MIB }, [upstream]);
  closers.push(() => server.app.close());
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.app.server.address() as AddressInfo;
  const content = 'é'.repeat(BODY_BYTES / 2);
  const body = Buffer.from(JSON.stringify({ model: 'llama', stream, messages: [{ role: 'user', content }] }));
  const before = await memoryBytes();
  const clients: ClientRequest[] = [];
  for (let sent = 0; sent < REQUESTS; sent++) {
    clients.push(send(port, body));
    await until('the upstream has the whole body', () => silent.received() > sent);
  }
  // Kept for a second attempt half a second long where no answer has begun.
  const isLetGo = async () => (await memoryBytes()) - before < (REQUESTS / 3) * BODY_BYTES;
  await until('the bodies are let go', isLetGo, { withinMs: 20_000 });
  for (const client of clients) client.destroy();
});

/** All clients share the bytes, so that only the server's copies are measured. */
function send(port: number, body: Buffer): ClientRequest {
  const headers = {
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  const client = request({ port, host: '127.0.0.1', method: 'POST', path: '/ai/v1/chat/completions', headers });
  client.on('error', () => undefined).end(body);
  return client;
}
