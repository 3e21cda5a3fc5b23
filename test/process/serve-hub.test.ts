// A server asks no hub, whatever is configured for those who pull models: somebody listens there, and hears nothing.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHub } from '../../src/hub/hub.ts';
import { settingsFor } from '../hub/open-fake.ts';
import { ServerProcess } from './server-process.ts';

describe('a server beside a hub', () => {
  let listener: Server;
  let address: string;
  let connections = 0;

  beforeAll(async () => {
    listener = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  });

  afterAll(() => void listener.close());

  it('starts, answers and stops without a word to it, directly or through a proxy', async () => {
    const variables = ['HF_ENDPOINT', 'HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];
    const settings = Object.fromEntries(variables.map((name) => [name, address]));
    const server = new ServerProcess({ ...settings, HF_TOKEN: 'a-token-of-the-hub', UMPIRE_MODELS: 'text-embed-mini' });
    try {
      const own = await server.ready();
      const headers = { authorization: `Bearer ${server.initialKey()}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ model: 'text-embed-mini', input: ['a text'] });
      expect((await fetch(`${own}/ai/v1/embeddings`, { method: 'POST', headers, body })).status).toBe(200);
      const unknown = JSON.stringify({ model: 'acme/model', input: ['a text'] });
      expect((await fetch(`${own}/ai/v1/embeddings`, { method: 'POST', headers, body: unknown })).status).toBe(404);
      expect((await server.stop()).code).toBe(0);
      expect(server.output).not.toContain('a-token-of-the-hub');
    } finally {
      await server.dispose();
    }
    expect(connections).toBe(0);
  });

  it('is heard there by whoever does ask', async () => {
    const stop = new AbortController();
    const pause = async (): Promise<void> => stop.abort(new Error('heard'));
    const hub = openHub(settingsFor(address), { pause });
    await expect(hub.describe({ repo: 'acme/model', revision: 'main' }, stop.signal)).rejects.toThrow('heard');
    expect(connections).toBeGreaterThan(0);
    await hub.close();
  });
});
