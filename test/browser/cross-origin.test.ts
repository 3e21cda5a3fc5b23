// A page of another origin, in a real browser, that uses our API with its user's key.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cutAfter, HELLO_CHUNKS, streamChunks } from '../upstream/upstream-answers.ts';
import { describeInBrowser } from './in-browser.ts';
import { CHAT_MODEL, type Site, startSite } from './site.ts';

let pages: Server;
let origin: string;
let open: Site;
let closed: Site;

beforeAll(async () => {
  pages = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><html lang="en"><title>Another page</title></html>');
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  const settings = { UMPIRE_MODELS: 'text-embed-mini' };
  [open, closed] = await Promise.all([
    startSite({ settings: { ...settings, UMPIRE_HTTP_CORS: origin }, chat: streamChunks() }),
    startSite({ settings }),
  ]);
});
afterAll(async () => {
  pages.close();
  await Promise.all([open.close(), closed.close()]);
});

interface Reply {
  readonly status: number;
  readonly requestId: string | null;
  readonly cost: string | null;
  readonly text: string;
}

/** Code of the page: sends it, and reads all that the page may read. */
function asking(address: string, key: string, body: object): string {
  const path = 'messages' in body ? 'chat/completions' : 'embeddings';
  const request = {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  return `fetch('${address}/ai/v1/${path}', ${JSON.stringify(request)}).then(async (reply) => ({
    status: reply.status,
    requestId: reply.headers.get('x-request-id'),
    cost: reply.headers.get('x-umpire-cost-usd'),
    text: await reply.text().catch((error) => 'the reply broke: ' + error.name),
  }), (error) => ({ status: 0, requestId: null, cost: null, text: error.name }))`;
}

const EMBEDDING = { model: 'text-embed-mini', input: 'A text from afar' };
const CHAT = { model: CHAT_MODEL, stream: true, messages: [{ role: 'user', content: 'Hello from afar' }] };

describeInBrowser('a page of a listed origin', ({ visit }) => {
  const visitThere = () => visit(origin, { otherOrigins: [open.address, closed.address] });

  it('gets an answer for its key, and reads our headers', async () => {
    const { page } = await visitThere();
    const reply = await page.evaluate<Reply>(asking(open.address, open.key, EMBEDDING));
    expect(reply).toMatchObject({ status: 200, requestId: expect.stringMatching(/./), cost: expect.any(String) });
    expect(JSON.parse(reply.text).data).toHaveLength(1);
  });

  it.each([
    ['its key is wrong', 401, 'invalid_api_key', () => ({ key: 'ump_wrong-from-afar', body: EMBEDDING })],
    [
      'the model is unknown',
      404,
      'model_not_found',
      () => ({ key: open.key, body: { ...EMBEDDING, model: 'nothing' } }),
    ],
    ['the body is wrong', 400, 'invalid_request', () => ({ key: open.key, body: { input: 1 } })],
  ] as const)('reads why it is refused when %s', async (_what, status, code, given) => {
    const there = await visitThere();
    const { key, body } = given();
    const reply = await there.page.evaluate<Reply>(asking(open.address, key, body));
    expect([reply.status, JSON.parse(reply.text).error.code]).toEqual([status, code]);
    await there.expectFault(new RegExp(`^console: .*status of ${status}`));
  });

  it('reads a stream to its end', async () => {
    open.upstream().answer = streamChunks();
    const { page } = await visitThere();
    const reply = await page.evaluate<Reply>(asking(open.address, open.key, CHAT));
    expect(reply.status).toBe(200);
    expect(reply.text).toMatch(/Hello.*there!.*\[DONE\]/s);
  });

  it('reads in a stream that its upstream broke off', async () => {
    open.upstream().answer = cutAfter(HELLO_CHUNKS.slice(0, 2));
    const { page } = await visitThere();
    const reply = await page.evaluate<Reply>(asking(open.address, open.key, CHAT));
    expect(reply.status).toBe(200);
    expect(reply.text).toMatch(/Hello.*"code":"upstream_error"/s);
  });

  it('gets nothing from a server that does not list it', async () => {
    const there = await visitThere();
    const reply = await there.page.evaluate<Reply>(asking(closed.address, closed.key, EMBEDDING));
    expect(reply).toMatchObject({ status: 0, text: 'TypeError' });
    await there.expectFault(/blocked by CORS policy/);
    await there.expectFault(/net::ERR_FAILED/);
  });
});
