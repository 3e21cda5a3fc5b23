// The nginx of docs/guides/proxy.md, as it stands there but for its addresses and files, with TLS, in front of a real server.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, ServerProcess } from '../process/server-process.ts';
import { firstBlock } from './guide-blocks.ts';

const KEY = 'a-fixed-key-for-this-test';
const hasNginx = ['nginx', 'openssl'].every((tool) => spawnSync(tool, ['-v']).error === undefined);
if (!hasNginx) process.stderr.write('No nginx or no openssl here: the guide about proxies is not tried.\n');

describe.skipIf(!hasNginx)('docs/guides/proxy.md', () => {
  let folder: string;
  let socketPath: string;
  let upstream: Server;
  let server: ServerProcess;
  let nginx: ReturnType<typeof spawn>;
  /** Sends the rest of the chat that is under way. */
  let finishChat: () => void;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'umpire-proxy-'));
    socketPath = join(folder, 'proxy.sock');
    upstream = createServer((incoming, response) => {
      if (incoming.method === 'GET') response.end('{"data":[{"id":"slow"}]}');
      else streamHalf(response);
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    server = new ServerProcess({
      UMPIRE_API_KEY: KEY,
      UMPIRE_HTTP_TRUSTED_PROXIES: '127.0.0.1',
      UMPIRE_UPSTREAMS: JSON.stringify([
        { name: 'own', baseUrl: `http://127.0.0.1:${port}/v1`, models: [{ id: 'slow' }] },
      ]),
    });
    writeFileSync(join(folder, 'nginx.conf'), configuration(await server.ready()));
    const certificate = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '1',
      '-subj',
      '/CN=umpire.example.com',
    ];
    spawnSync('openssl', [...certificate, '-keyout', join(folder, 'key'), '-out', join(folder, 'crt')]);
    nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // It says so once it listens.
    for await (const line of nginx.stderr ?? []) if (String(line).includes('start worker process')) break;
  });

  afterAll(async () => {
    nginx.kill('SIGTERM');
    await server.dispose();
    upstream.closeAllConnections();
    upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function configuration(address: string): string {
    const page = readFileSync(join(ROOT, 'docs', 'guides', 'proxy.md'), 'utf8');
    const site = firstBlock(page, 'nginx')
      .replace('listen 443 ssl', `listen unix:${socketPath} ssl`)
      .replace('/etc/ssl/umpire.crt', join(folder, 'crt'))
      .replace('/etc/ssl/umpire.key', join(folder, 'key'))
      .replaceAll('http://127.0.0.1:8080', address);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${folder}/${kind};`,
    );
    return [
      'daemon off; error_log stderr notice;',
      `pid ${folder}/pid; events {}`,
      `http { access_log off; ${temporary.join(' ')}`,
      site,
      '}',
    ].join('\n');
  }

  function streamHalf(response: ServerResponse): void {
    const chunk = (content: string) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })}\n\n`;
    response.setHeader('content-type', 'text/event-stream');
    response.write(chunk('first'));
    finishChat = () => response.end(`${chunk('second')}data: [DONE]\n\n`);
  }

  async function call(
    path: string,
    body?: string,
    headers: RequestOptions['headers'] = { authorization: `Bearer ${KEY}` },
  ) {
    const sent = request({
      socketPath,
      path,
      method: body === undefined ? 'GET' : 'POST',
      servername: 'umpire.example.com',
      rejectUnauthorized: false,
      headers: { host: 'umpire.example.com', 'content-type': 'application/json', ...headers },
    });
    // It may answer before it has read everything, and then reads no more.
    sent.on('error', () => {});
    sent.end(body);
    const [reply] = await once(sent, 'response');
    return reply as IncomingMessage;
  }

  it('passes decisions and the headers of their cost', async () => {
    const question = { type: 'noul', instructions: 'Is it about money?' };
    const reply = await call(
      '/ai/v1/systemone',
      JSON.stringify({ model: 'kev', state: 'I was charged twice.', questions: { money: question } }),
    );
    expect(reply.statusCode).toBe(200);
    expect(reply.headers['x-umpire-cost-usd']).toMatch(/^0\.0+\d+$/);
    expect(JSON.parse(await text(reply))).toMatchObject({ answers: { money: { type: 'noul' } } });
  });

  it('passes a chat chunk by chunk', async () => {
    const body = { model: 'slow', stream: true, messages: [{ role: 'user', content: 'Hello' }] };
    const reply = await call('/ai/v1/chat/completions', JSON.stringify(body));
    let received = '';
    for await (const chunk of reply) {
      received += chunk;
      // The second half is sent only when the first has come through.
      if (received.includes('first') && !received.includes('second')) finishChat();
    }
    expect(received).toContain('second');
    expect(received).toMatch(/data: \[DONE\]\s*$/);
  });

  it('leaves errors in the shape that the server gives them', async () => {
    const wrongKey = await call('/ai/v1/models', undefined, { authorization: 'Bearer ump_wrong' });
    expect(wrongKey.statusCode).toBe(401);
    expect(JSON.parse(await text(wrongKey))).toMatchObject({ error: { type: 'authentication_error' } });
    const tooLarge = await call(
      '/ai/v1/embeddings',
      JSON.stringify({ model: 'text-embed-mini', input: 'x'.repeat(8.5 * 2 ** 20) }),
    );
    expect(tooLarge.statusCode).toBe(413);
    expect(JSON.parse(await text(tooLarge))).toMatchObject({ error: { message: expect.stringContaining('MiB') } });
  });

  it('keeps administration and metrics from the outside', async () => {
    const [keys, metrics] = await Promise.all([call('/admin/v1/keys'), call('/metrics')]);
    expect([keys.statusCode, metrics.statusCode]).toEqual([403, 403]);
  });
});
