// A server that the loops of the bench are tried against, with a client for it; both end with the test.

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { BenchClient } from '../../../bench/load/client.ts';

export async function serve(listener: RequestListener): Promise<BenchClient> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const client = new BenchClient(`http://127.0.0.1:${address.port}`, 'key', null);
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  return client;
}

export function answer(status: number, headers: Record<string, string> = {}): RequestListener {
  return (request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end('{}'));
  };
}
