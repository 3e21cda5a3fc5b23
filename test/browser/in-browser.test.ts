// What the harness finds in pages that do wrong, each on purpose; and that it finds nothing in one that does not.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { completion, replyJson } from '../upstream/upstream-answers.ts';
import { describeInBrowser } from './in-browser.ts';
import { CHAT_MODEL, type Site, startSite } from './site.ts';
import { WAIT } from './visit.ts';

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src *";
const SCRIPTS: Readonly<Record<string, string>> = {
  '/logs.js': 'console.error("it went wrong");',
  '/throws.js': 'null.length;',
  '/rejects.js': 'Promise.reject(new Error("nobody heard"));',
};
const BODIES: Readonly<Record<string, string>> = {
  '/good': '<h1>Good</h1><p>All is well.</p>',
  '/logs': '<script src="/logs.js"></script>',
  '/throws': '<script src="/throws.js"></script>',
  '/rejects': '<script src="/rejects.js"></script>',
  '/inline': '<script>window.isOpen = true</script>',
  '/missing': '<script src="/nothing.js"></script>',
  '/nameless': '<main><h1>Nameless</h1><p>What goes here?</p><input></main>',
};

let pages: Server;
let foreign: Server;
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const listening = (server: Server): Promise<Server> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
const at = (path: string): string => `http://127.0.0.1:${portOf(pages)}${path}`;

describeInBrowser('a page', ({ visit }) => {
  beforeAll(async () => {
    foreign = await listening(createServer((_request, response) => response.end()));
    pages = await listening(
      createServer(({ url = '' }, response) => {
        const script = SCRIPTS[url];
        const image = `<img alt="" src="http://127.0.0.1:${portOf(foreign)}/pixel">`;
        const body = url === '/foreign' ? image : BODIES[url];
        response.setHeader('content-security-policy', POLICY);
        response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript');
        if (script === undefined && body === undefined) response.statusCode = 404;
        response.end(script ?? `<!doctype html><html lang="en"><title>${url}</title><body>${body}</body></html>`);
      }),
    );
  });
  afterAll(() => {
    pages.close();
    foreign.close();
  });

  it('that does nothing wrong has no faults', async () => {
    const good = await visit(at('/good'));
    expect(await good.page.getByRole('heading').textContent()).toBe('Good');
    expect(good.faults()).toEqual([]);
    expect(await good.accessibilityFaults()).toEqual([]);
  });

  it.each([
    ['logs an error', '/logs', /^console: it went wrong/],
    ['throws', '/throws', /^uncaught: TypeError/],
    ['leaves a promise unheard', '/rejects', /^uncaught: Error: nobody heard/],
    ['asks another origin', '/foreign', /^request to another origin: http:\/\/127/],
    ['has a script that its policy forbids', '/inline', /^content security policy: script-src/],
    ['lacks a file', '/missing', /^console: Failed to load resource: .* status of 404/],
  ])('that %s has that as its fault', async (_what, path, fault) => {
    const bad = await visit(at(path));
    await bad.expectFault(fault);
    // The browser says more of a violation than we ask.
    await expect.poll(() => bad.faults().filter((other) => !other.startsWith('console: ')), WAIT).toEqual([]);
    if (path === '/inline') await bad.expectFault(/^console: Executing inline script/);
  });

  it('that some people cannot use is told by axe, under a policy that forbids every script but its own', async () => {
    const nameless = await visit(at('/nameless'));
    expect(await nameless.accessibilityFaults()).toEqual([expect.stringMatching(/^label at input: /)]);
  });

  it('is seen at the width and in the colours that are wanted', async () => {
    const { page } = await visit(at('/good'), { widthPx: 320, scheme: 'dark', prefersReducedMotion: true });
    expect(await page.evaluate<number>('innerWidth')).toBe(320);
    expect(await page.evaluate<boolean>('matchMedia("(prefers-color-scheme: dark)").matches')).toBe(true);
    expect(await page.evaluate<boolean>('matchMedia("(prefers-reduced-motion: reduce)").matches')).toBe(true);
    expect(await page.evaluate<boolean>('matchMedia("(forced-colors: active)").matches')).toBe(false);
  });
});

describeInBrowser('a server of ours', ({ visit }) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite({ settings: { UMPIRE_MODELS: 'text-embed-mini' }, chat: replyJson(completion()) });
  });
  afterAll(() => site.close());

  it('is alive in a browser too', async () => {
    const { page } = await visit(`${site.address}/healthz`);
    expect(await page.textContent('body')).toBe('{"status":"ok"}');
  });

  it('answers what a page of its own asks, and its chat server is asked', async () => {
    const { page } = await visit(`${site.address}/healthz`);
    const request = {
      method: 'POST',
      headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: CHAT_MODEL, messages: [{ role: 'user', content: 'Who goes there?' }] }),
    };
    const ask = `fetch('/ai/v1/chat/completions', ${JSON.stringify(request)}).then((reply) => reply.status)`;
    expect(await page.evaluate<number>(ask)).toBe(200);
    expect(site.upstream().lastRequest.json).toMatchObject({ model: CHAT_MODEL });
  });
});
