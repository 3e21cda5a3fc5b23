// What is not pulled, and what its user reads of why.

import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type HubSettings, openHub } from '../../src/hub/hub.ts';
import { HubError } from '../../src/hub/hub-error.ts';
import type { FakeHubOptions, Fault } from './fake-hub.ts';
import { ScratchFolders, SMALL_TREE } from './model-tree.ts';
import { openFake, type PulledHub, settingsFor } from './open-fake.ts';

const scratch = new ScratchFolders();
afterAll(() => scratch.dispose());

const open: PulledHub[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const NAMED = { repo: 'acme/model', revision: 'main' };
const TOKEN = 'a-token-of-nexus/0815';
const TOKENS = { [TOKEN]: ['acme/open'] };
const PUBLIC: FakeHubOptions = { repositories: { 'acme/model': { files: SMALL_TREE } } };
const PRIVATE: FakeHubOptions = {
  repositories: { 'acme/model': { files: SMALL_TREE, access: 'private' } },
  tokens: TOKENS,
};
const GATED: FakeHubOptions = {
  repositories: { 'acme/model': { files: SMALL_TREE, access: 'gated' } },
  tokens: TOKENS,
};

interface Refusal {
  readonly message: string;
  readonly endpoint: string;
  readonly pulled: PulledHub;
}

/** What pulling one file of a repository fails with. */
async function refusalOf(
  options: FakeHubOptions,
  settings: Partial<HubSettings> = {},
  given: { readonly faults?: readonly Fault[]; readonly revision?: string; readonly repo?: string } = {},
): Promise<Refusal> {
  const pulled = await openFake(options, settings);
  open.push(pulled);
  for (const fault of given.faults ?? []) pulled.fake.fail(fault);
  const folder = scratch.make();
  const failure = await pulled.hub
    .describe({ ...NAMED, ...given })
    .then((model) => model.take(['onnx/model.onnx'], { folder }))
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(HubError);
  expect(readdirSync(folder).filter((name) => !name.endsWith('.partial'))).toEqual([]);
  return { message: (failure as HubError).message, endpoint: pulled.fake.endpoint, pulled };
}

describe('who may not read a repository reads that', () => {
  it('it was not found, or needs a token', async () => {
    for (const [options, repo] of [
      [PRIVATE, 'acme/model'],
      [PUBLIC, 'acme/nothing'],
    ] as const) {
      const { message, endpoint } = await refusalOf(options, {}, { repo });
      expect(message).toBe(`${repo} was not found at ${endpoint}, or it needs a token: HF_TOKEN.`);
    }
  });

  it('it was not found, or the token is not enough', async () => {
    const { message, endpoint } = await refusalOf(PRIVATE, { token: TOKEN });
    expect(message).toBe(`acme/model was not found at ${endpoint}, or the token may not read it.`);
  });

  it('the token is none', async () => {
    const { message, endpoint } = await refusalOf(PUBLIC, { token: 'of-somebody-else' });
    expect(message).toBe(`${endpoint} does not know the token.`);
  });

  it('its conditions must be accepted, with a token', async () => {
    const { message, endpoint } = await refusalOf(GATED);
    expect(message).toBe(
      `acme/model is gated: its conditions must be accepted at ${endpoint}/acme/model, and HF_TOKEN must be a token of that account.`,
    );
  });

  it('its conditions must be accepted, by the account of the token', async () => {
    const { message, endpoint, pulled } = await refusalOf(GATED, { token: TOKEN });
    expect(message).toBe(
      `The token may not read acme/model: its conditions must be accepted at ${endpoint}/acme/model, by the account that it belongs to.`,
    );
    expect((await pulled.hub.describe(NAMED)).facts.isGated).toBe(true);
  });

  it('it was disabled', async () => {
    const disabled = { repositories: { 'acme/model': { files: SMALL_TREE, info: { disabled: true } } } };
    const { message, endpoint } = await refusalOf(disabled);
    expect(message).toBe(`acme/model was disabled at ${endpoint}.`);
    const headers = { 'x-error-message': 'Access to this resource is disabled.' };
    const told = await refusalOf(PUBLIC, {}, { faults: [{ on: /revision/, status: 403, headers }] });
    expect(told.message).toBe(
      `${told.endpoint} refuses the revision "main" of acme/model: Access to this resource is disabled.`,
    );
  });
});

describe('what is not there', () => {
  it('is a revision', async () => {
    const { message } = await refusalOf(PUBLIC, {}, { revision: 'v9' });
    expect(message).toBe('acme/model has no revision "v9".');
  });

  it('is a file', async () => {
    const { message, pulled } = await refusalOf(
      PUBLIC,
      {},
      {
        faults: [{ on: /resolve/, status: 404, headers: { 'x-error-code': 'EntryNotFound' } }],
      },
    );
    const commit = pulled.fake.push('acme/model', SMALL_TREE);
    expect(message).toBe(`acme/model has no file "onnx/model.onnx" at ${commit}.`);
  });

  it('is a hub', async () => {
    const page = await refusalOf(PUBLIC, {}, { faults: [{ on: /revision/, body: '<html>Welcome</html>' }] });
    expect(page.message).toBe(`${page.endpoint} answers with something else than JSON. Is it a hub?`);
    const none = await refusalOf(PUBLIC, {}, { faults: [{ on: /revision/, status: 404, body: 'no' }] });
    expect(none.message).toBe(`${none.endpoint} has no revision "main" of acme/model (status 404).`);
    const odd = await refusalOf(PUBLIC, {}, { faults: [{ on: /revision/, status: 418 }] });
    expect(odd.message).toBe(`${odd.endpoint} answered the revision "main" of acme/model with status 418.`);
  });
});

describe('a token', () => {
  it('is in no message, though the hub repeats it', async () => {
    const headers = { 'x-error-message': `Bearer ${TOKEN} is not welcome` };
    const faults = [{ on: /revision/, status: 403, headers }];
    const { message } = await refusalOf({ ...PUBLIC, tokens: TOKENS }, { token: TOKEN }, { faults });
    expect(message).toMatch(/: Bearer \(the token\) is not welcome$/);
    const inFile = { on: /resolve/, status: 400, headers };
    const file = await refusalOf({ ...PUBLIC, tokens: TOKENS }, { token: TOKEN }, { faults: [inFile] });
    expect(file.message).toMatch(/with status 400: Bearer \(the token\) is not welcome\.$/);
  });
});

describe('a list of files', () => {
  const listed = (...entries: object[]): Fault => ({ on: /tree/, status: 200, body: JSON.stringify(entries) });
  const entry = { type: 'file', path: 'onnx/model.onnx', size: 3, oid: '0'.repeat(40) };

  it.each(['../../etc/cron.d/x', '/etc/passwd', 'C:/x', 'a\\..\\..\\b', 'a/./b', 'a\0b', '', 'a//b', '..'])(
    'with the path %j is refused as a whole',
    async (path) => {
      const { message } = await refusalOf(PUBLIC, {}, { faults: [listed(entry, { ...entry, path })] });
      expect(message).toMatch(/^acme\/model has a file with the path ".*", which is refused: /);
    },
  );

  it.each([
    ['no path', { ...entry, path: 7 }, 'has an entry without a path'],
    ['no size', { ...entry, size: undefined }, 'does not say how large "onnx/model.onnx" is'],
    ['a size below none', { ...entry, size: -1 }, 'does not say how large "onnx/model.onnx" is'],
    ['half a byte', { ...entry, size: 1.5 }, 'does not say how large "onnx/model.onnx" is'],
    ['no sum', { ...entry, oid: undefined }, 'cannot be taken: the hub names no sum of it'],
    ['a sum that leads elsewhere', { ...entry, lfs: { oid: '../../x', size: 3 } }, 'the hub names no sum of it'],
  ])('with %s is refused', async (_name, odd, why) => {
    const { message } = await refusalOf(PUBLIC, {}, { faults: [listed(odd)] });
    expect(message).toContain(why);
  });

  it('that goes on at another host is refused', async () => {
    const other = createServer((_request, response) => response.end('[]'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const link = `<http://127.0.0.1:${(other.address() as AddressInfo).port}/tree>; rel="next"`;
    const { message, endpoint } = await refusalOf(PUBLIC, {}, { faults: [{ on: /tree/, headers: { link } }] });
    expect(message).toBe(`${endpoint} sends to another host for the rest of its list of files.`);
    other.close();
  });

  it('that has no end is refused', async () => {
    const many = Array.from({ length: 100_001 }, (_, index) => ({ ...entry, path: `file-${index}` }));
    const { message } = await refusalOf(PUBLIC, {}, { faults: [listed(...many)] });
    expect(message).toBe('acme/model has more than 100000 files.');
  });

  it('that comes again and again is refused', async () => {
    const link = '</api/models/acme/model/tree/x?cursor=1>; rel="next"';
    const { message, pulled } = await refusalOf(PUBLIC, {}, { faults: [{ ...listed(entry), headers: { link } }] });
    expect(message).toBe(`The list of files of acme/model has "${entry.path}" twice.`);
    expect(pulled.fake.requests.filter(({ line }) => line.includes('/tree/'))).toHaveLength(2);
  });

  it('that is none is refused', async () => {
    const { message } = await refusalOf(PUBLIC, {}, { faults: [{ on: /tree/, body: '{"error": "x"}' }] });
    expect(message).toBe('The list of files of acme/model is none.');
  });
});

describe('a revision', () => {
  it.each([{ sha: 'main' }, { sha: '../../x' }, {}, []])('that is no commit is refused: %j', async (info) => {
    const faults = [{ on: /revision/, body: JSON.stringify(info) }];
    const { message, endpoint } = await refusalOf(PUBLIC, {}, { faults });
    expect(message).toBe(`${endpoint} does not say which commit the revision "main" of acme/model is.`);
  });

  it('that was asked for as a commit and is another one is refused', async () => {
    const faults = [{ on: /revision/, status: 200, body: JSON.stringify({ sha: 'a'.repeat(40) }) }];
    const { message } = await refusalOf(PUBLIC, {}, { faults, revision: 'b'.repeat(40) });
    expect(message).toContain('does not say which commit');
  });

  it('that another host shall tell is refused, and said where', async () => {
    const faults = [{ on: /revision/, status: 308, headers: { location: 'https://elsewhere.example/api' } }];
    const { message, endpoint } = await refusalOf(PUBLIC, {}, { faults });
    expect(message).toBe(
      `${endpoint} sends to https://elsewhere.example. If that is the hub, it belongs into HF_ENDPOINT.`,
    );
  });
});

describe('an address', () => {
  it.each([
    ['huggingface.co', 'is not one of http or https'],
    ['ftp://huggingface.co', 'is not one of http or https'],
    ['https://name:password@nexus.example', 'holds a password'],
    ['https://nexus.example/?a=b', 'ends in a query'],
  ])('is refused: %s', (endpoint, why) => {
    expect(() => openHub(settingsFor(endpoint))).toThrow(why);
    expect(() => openHub(settingsFor(endpoint))).not.toThrow('password@');
  });

  it('at which nobody listens is said', async () => {
    const pulled = await openFake(PUBLIC);
    await pulled.fake.close();
    const failure = pulled.hub.describe(NAMED);
    await expect(failure).rejects.toThrow(
      /^127\.0\.0\.1:\d+ cannot be reached or broke off \(.*ECONNREFUSED.*\)\. It was tried 5 times\.$/,
    );
    await pulled.hub.close();
  });

  it('of a proxy that is none is refused, without what it holds', async () => {
    const { message } = await refusalOf(PUBLIC, { proxies: { http: 'name:password', https: '', none: '' } });
    expect(message).toBe('HTTP_PROXY or HTTPS_PROXY is not the address of a proxy.');
  });
});

describe('a proxy', () => {
  it('is asked instead of the hub, but for hosts that need none', async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(407).end();
    });
    proxy.on('connect', (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const http = `http://name:geheim@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { message, pulled } = await refusalOf(PUBLIC, { proxies: { http, https: '', none: '' } });
    expect(message).toMatch(/^The proxy on the way to (http:\/\/)?127\.0\.0\.1:\d+ wants another name or password\.$/);
    expect(asked.length).toBeGreaterThan(0);
    expect(pulled.fake.requests).toEqual([]);
    asked.length = 0;
    const direct = await openFake(PUBLIC, { proxies: { http, https: '', none: '127.0.0.1' } });
    open.push(direct);
    await direct.hub.describe(NAMED);
    expect(asked).toEqual([]);
    proxy.close();
    proxy.closeAllConnections();
  });
});
