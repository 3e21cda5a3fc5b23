// The routes of the pages as a browser, a cache and somebody who looks for a door see them.

import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { readWebFiles } from '../../../src/http/web/web-files.ts';
import { startServerOf } from '../../application/test-server.ts';

const server = await startServerOf({ webFiles: await readWebFiles() });
const without = await startServerOf({});
afterAll(async () => {
  await server.app.close();
  await without.app.close();
});

const get = (url: string, headers: Record<string, string> = {}) => server.app.inject({ method: 'GET', url, headers });

const playground = await get('/');
const [script = ''] = /\/assets\/[^"]+main\.js/.exec(playground.body) ?? [];

describe('a page', () => {
  it.each(['/', '/admin', '/admin/', '/docs', '/?from=mail'])('comes without a key (%s)', async (url) => {
    const page = await get(url);
    expect(page.statusCode).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toMatch(/^<!doctype html>/);
    expect(page.headers).not.toHaveProperty('set-cookie');
  });

  it('may load from this server alone, nothing inline, and send no form', () => {
    const policy = String(playground.headers['content-security-policy']);
    const directives = new Map(
      policy.split(';').map((each) => [each.split(' ')[0], each.split(' ').slice(1).join(' ')]),
    );
    expect(directives.get('default-src')).toBe("'none'");
    expect(directives.get('script-src')).toBe("'self'");
    expect(directives.get('style-src')).toBe("'self'");
    expect(directives.get('connect-src')).toBe("'self'");
    expect(directives.get('frame-ancestors')).toBe("'none'");
    expect(directives.get('base-uri')).toBe("'none'");
    expect(directives.get('form-action')).toBe("'none'");
    expect(policy).not.toContain('unsafe-');
    expect(policy).not.toMatch(/https?:|\*/);
    expect(playground.headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' });
  });

  it('that is the reference may set HTML, and draw with images in its styles; nothing else is let go', async () => {
    const { headers } = await get('/docs');
    const policy = String(headers['content-security-policy']).split(';');
    const strict = String(playground.headers['content-security-policy']).split(';');
    expect(policy.filter((directive) => !strict.includes(directive))).toEqual(["img-src 'self' data:"]);
    expect(
      strict.filter((directive) => !policy.includes(directive)).map((directive) => directive.split(' ')[0]),
    ).toEqual(['img-src', 'require-trusted-types-for', 'trusted-types']);
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' });
  });

  it('is checked each time it is asked for, and not sent again while it is the same', async () => {
    expect(playground.headers['cache-control']).toBe('no-cache');
    const again = await get('/', { 'if-none-match': String(playground.headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    expect((await get('/', { 'if-none-match': '"another"' })).statusCode).toBe(200);
  });

  it('takes no other method than GET and HEAD', async () => {
    const posted = await server.app.inject({ method: 'POST', url: '/', payload: {} });
    expect(posted.statusCode).toBe(405);
    expect(posted.headers.allow).toBe('GET, HEAD');
    const head = await server.app.inject({ method: 'HEAD', url: '/' });
    expect([head.statusCode, head.body]).toEqual([200, '']);
  });
});

describe('an asset', () => {
  it('is kept for a year, because its address changes with its content', async () => {
    const asset = await get(script);
    expect(asset.statusCode).toBe(200);
    expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(asset.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(asset.headers['content-security-policy']).toContain("default-src 'none'");
  });

  it('comes packed as the client likes it, and is the same unpacked', async () => {
    const plain = await get(script);
    const br = await get(script, { 'accept-encoding': 'gzip, deflate, br, zstd' });
    const gzip = await get(script, { 'accept-encoding': 'gzip;q=1, br;q=0' });
    expect([plain, br, gzip].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'br', 'gzip']);
    expect(brotliDecompressSync(br.rawPayload).toString()).toBe(plain.body);
    expect(gunzipSync(gzip.rawPayload).toString()).toBe(plain.body);
    expect(br.headers.vary).toBe('accept-encoding');
    expect(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
  });

  it.each([
    '/assets',
    '/assets/',
    '/assets/nothing.js',
    '/assets/../package.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/..%2f..%2fpackage.json',
    `${script.slice(0, script.lastIndexOf('/'))}`,
    `${script.replace('.js', '.ts')}`,
    '/src/web/playground/main.ts',
    '/playground/index.html',
    '/assets/%00',
  ])('is only what a page leads to: %s is a 404 in the usual shape', async (url) => {
    const reply = await get(url);
    expect([reply.statusCode, reply.json().error.code]).toEqual([404, 'not_found']);
  });
});

describe('a server without pages', () => {
  it.each(['/', '/admin', '/docs', '/docs/swagger-ui.css', script])('knows no %s', async (url) => {
    const { status, json } = await without.get(url);
    expect([status, json.error.code]).toEqual([404, 'not_found']);
  });
});

it('pages are no part of the description of the API', async () => {
  expect(Object.keys((await server.get('/openapi.json')).json.paths)).toEqual(
    Object.keys((await without.get('/openapi.json')).json.paths),
  );
});
