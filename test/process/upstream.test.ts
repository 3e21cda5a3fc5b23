// A server with a chat upstream out of its configuration: what reaches the upstream, what comes back, what is logged.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from './server-process.ts';

const KEY = 'a-fixed-key-for-this-test';
const UPSTREAM_KEY = 'sk-key-of-the-upstream';

interface Received {
  readonly request: IncomingMessage;
  readonly body: Record<string, unknown>;
}

let upstream: Server;
let server: ServerProcess;
let isBroken = false;
const received: Received[] = [];

beforeAll(async () => {
  upstream = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.end(JSON.stringify({ data: [{ id: 'vendor/big' }] }));
      return;
    }
    received.push({ request, body: (await json(request)) as Record<string, unknown> });
    if (isBroken) {
      response.writeHead(500).end();
      return;
    }
    const message = { role: 'assistant', content: 'Hello.' };
    const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ id: 'c1', object: 'chat.completion', model: 'big', choices: [{ index: 0, message }], usage }),
    );
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => upstream.once('listening', resolve));
  const { port } = upstream.address() as AddressInfo;
  server = new ServerProcess({
    UMPIRE_API_KEY: KEY,
    UMPIRE_MODELS: 'text-embed-mini',
    UPSTREAM_KEY,
    UMPIRE_UPSTREAMS: JSON.stringify([
      {
        name: 'neighbour',
        baseUrl: `http://127.0.0.1:${port}/v1`,
        apiKeyEnv: 'UPSTREAM_KEY',
        models: [
          { id: 'chat-big', upstreamModel: 'vendor/big', inputMicroUsdPerMillionTokens: 150_000 },
          { id: 'thinker', reasoning: { allowanceTokens: 1000 } },
        ],
      },
    ]),
  });
  await server.ready();
});

afterAll(async () => {
  await server.dispose();
  upstream.close();
});

async function call(path: string, body?: object): Promise<{ readonly status: number; readonly json: unknown }> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const reply = await fetch(`${await server.ready()}/ai/v1/${path}`, { headers, ...post });
  return { status: reply.status, json: await reply.json() };
}

describe('an upstream of the configuration', () => {
  it('offers its models beside the local ones, with their prices', async () => {
    const { json } = await call('models');
    const { data } = json as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(['text-embed-mini', 'chat-big', 'thinker']);
    expect(data[1]).toMatchObject({ type: 'llm', owned_by: 'neighbour', price: { input: 0.15, output: 0 } });
    expect(server.output).toContain('model   chat-big (llm)');
  });

  it("is asked with its own key and its own model's name", async () => {
    const messages = [{ role: 'user', content: 'Say hello, xylophone.' }];
    const { status, json } = await call('chat/completions', { model: 'chat-big', messages, max_tokens: 10 });
    expect(status).toBe(200);
    expect(json).toMatchObject({ model: 'chat-big', usage: { completion_tokens: 7 } });
    const [{ request, body }] = received as [Received];
    expect(request.url).toBe('/v1/chat/completions');
    expect(request.headers.authorization).toBe(`Bearer ${UPSTREAM_KEY}`);
    expect(body).toMatchObject({ model: 'vendor/big', messages, max_tokens: 10 });
  });

  it('has the allowance of a reasoning model added to max_tokens', async () => {
    const { status } = await call('chat/completions', { model: 'thinker', messages: [], max_tokens: 10 });
    expect(status).toBe(200);
    expect(received[1]?.body).toMatchObject({ model: 'thinker', max_tokens: 1010 });
  });

  it('that fails is named in the log and counted, by upstream and model', async () => {
    isBroken = true;
    const { status } = await call('chat/completions', {
      model: 'chat-big',
      messages: [{ role: 'user', content: 'Fail.' }],
    });
    expect(status).toBe(502);
    await server.waitFor(
      /"code":"upstream_error","upstream":"neighbour","model":"chat-big","failure":"server_error","reason":/,
    );
    expect(server.output).toContain('"cause":{"type":"Error","message":"upstream status 500');
    expect(server.output).not.toContain('"stack"');
    const metrics = await (await fetch(`${await server.ready()}/metrics`)).text();
    expect(metrics).toContain('umpire_upstream_calls_total{upstream="neighbour",model="chat-big"} 2');
    expect(metrics).toContain('umpire_upstream_calls_total{upstream="neighbour",model="thinker"} 1');
    expect(metrics).toContain(
      'umpire_upstream_failures_total{upstream="neighbour",model="chat-big",code="upstream_error",reason="server_error"} 1',
    );
  });

  it('is asked at the start what it has: a model that it does not list is told', async () => {
    await server.waitFor(/"upstream":"neighbour","msg":"the upstream neighbour does not list the model thinker;/);
    expect(server.output).not.toContain('does not list the model vendor/big');
  });

  it('leaves neither its key nor a text in the log', async () => {
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(server.output).not.toContain(UPSTREAM_KEY);
    expect(server.output).not.toContain('xylophone');
    expect(server.output).toContain('/ai/v1/chat/completions');
  });
});
