// A server that logs what it is sent. Passes; the scan at the end of the run must not.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { testLogs } from '../test-logs.ts';

it('answers', async () => {
  const log = testLogs.openLog();
  const server = createServer(async (request, response) => {
    const { state } = JSON.parse(await text(request)) as { state: string };
    log(`${JSON.stringify({ level: 'info', msg: `read "${state.slice(0, 20)}…"` })}\n`);
    response.end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const body = JSON.stringify({ state: 'Dear "sir",\nmy daughter has measles' });
  expect((await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body })).status).toBe(200);
  server.close();
});
