// What is found of an upstream before anybody calls it, for every way in which it may answer.

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CheckedUpstream, checkUpstream } from '../../src/upstream/check-upstream.ts';

const SECRET = 'sk-never-to-be-told';
const STAYS = new AbortController().signal;

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function upstreamAt(origin: string, changes: Partial<CheckedUpstream> = {}): CheckedUpstream {
  return { baseUrl: `${origin}/v1/`, apiKey: SECRET, upstreamModels: ['llama-7b', 'llama-13b'], ...changes };
}

function listing(...ids: string[]): RequestListener {
  return (_request, response) => response.end(JSON.stringify({ object: 'list', data: ids.map((id) => ({ id })) }));
}

describe('an upstream', () => {
  it('that lists every model is sound; it is asked with its key, its path and its query', async () => {
    const asked: unknown[] = [];
    const origin = await listen((request, response) => {
      asked.push([request.method, request.url, request.headers.authorization]);
      listing('llama-7b', 'llama-13b', 'other')(request, response);
    });
    const upstream = upstreamAt(origin, { baseUrl: `${origin}/v1?tenant=a` });
    expect(await checkUpstream(upstream, STAYS)).toMatchObject({
      state: 'ok',
      text: 'answers, and lists llama-7b, llama-13b',
    });
    expect(asked).toEqual([['GET', '/v1/models?tenant=a', `Bearer ${SECRET}`]]);
  });

  it('tells its clock, where it says what time it is', async () => {
    const date = 'Sun, 22 Nov 2026 12:00:00 GMT';
    const [told, silent] = [
      await listen((request, response) => listing()(request, response.setHeader('date', date))),
      await listen((request, response) => {
        response.sendDate = false;
        listing()(request, response);
      }),
    ];
    expect((await checkUpstream(upstreamAt(told), STAYS)).dateMs).toBe(Date.parse(date));
    expect((await checkUpstream(upstreamAt(silent), STAYS)).dateMs).toBeUndefined();
  });

  it('that does not list a model is worth a warning, with what may have been meant', async () => {
    const origin = await listen(listing('llama-13b', 'llama-7b:latest'));
    expect(await checkUpstream(upstreamAt(origin), STAYS)).toMatchObject({
      state: 'warning',
      text: 'does not list the model llama-7b; did you mean llama-7b:latest?',
    });
  });

  it.each([401, 403])('that answers %i refuses the key', async (status) => {
    const origin = await listen((_request, response) => response.writeHead(status).end(SECRET));
    const refused = await checkUpstream(upstreamAt(origin), STAYS);
    expect(refused).toMatchObject({
      state: 'fault',
      text: `refuses the API key (status ${status}): is it the right one?`,
    });
    const unnamed = await checkUpstream(upstreamAt(origin, { apiKey: undefined }), STAYS);
    expect(unnamed.text).toContain('apiKeyEnv');
  });

  it.each([404, 405, 501])('that has no list (%i) is sound as far as one can see', async (status) => {
    const origin = await listen((_request, response) => response.writeHead(status).end('{}'));
    expect((await checkUpstream(upstreamAt(origin), STAYS)).state).toBe('ok');
  });

  it.each(['', 'nonsense', '[]', '{"data":{}}', `{"data":"${'x'.repeat(5_000_000)}"}`])(
    'that answers with something else is sound as far as one can see, %#',
    async (body) => {
      const origin = await listen((_request, response) => response.end(body));
      expect((await checkUpstream(upstreamAt(origin), STAYS)).state).toBe('ok');
    },
  );

  it('that fails is a fault', async () => {
    const origin = await listen((_request, response) => response.writeHead(500).end(SECRET));
    expect(await checkUpstream(upstreamAt(origin), STAYS)).toMatchObject({
      state: 'fault',
      text: 'answers with status 500',
    });
  });

  it('that nobody runs is a fault', async () => {
    const origin = await listen(() => undefined);
    const gone = upstreamAt(origin.replace(/\d+$/, '1'));
    expect(await checkUpstream(gone, STAYS)).toEqual({ state: 'fault', text: 'cannot be reached: ECONNREFUSED' });
  });

  it('that says nothing is not waited for', async () => {
    const origin = await listen(() => undefined);
    expect(await checkUpstream(upstreamAt(origin), AbortSignal.timeout(50))).toMatchObject({
      state: 'fault',
      text: 'gives no answer in time',
    });
  });

  it('that answers with no HTTP at all is a fault, not quoted', async () => {
    const origin = await listen((request) => request.socket.end(`${SECRET}\r\n\r\n`));
    const { state, text } = await checkUpstream(upstreamAt(origin), STAYS);
    expect(state).toBe('fault');
    expect(text).not.toContain(SECRET);
  });
});
