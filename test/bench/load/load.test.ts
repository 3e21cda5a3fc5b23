// The loops that load a server, against endpoints that do nothing or refuse.

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { BenchClient } from '../../../bench/load/client.ts';
import { runClosedLoop, runPaced } from '../../../bench/load/load.ts';
import type { Mix } from '../../../bench/load/workload.ts';
import { NullEndpoint } from '../../../bench/servers/child-processes.ts';

const mix: Mix = { name: 'nothing', path: '/ai/v1/systemone', makeBody: () => '{}' };
const LIMITS = { durationMs: 50, minSamples: 20, maxDurationMs: 5000 };
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(listener: RequestListener): Promise<BenchClient> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const client = new BenchClient(`http://127.0.0.1:${address.port}`, 'key', 8);
  closers.push(
    () => server.close(),
    () => client.close(),
  );
  return client;
}

function reply(status: number, body: string, headers: Record<string, string> = {}): RequestListener {
  return (request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(status, headers).end(body));
  };
}

describe('the closed loop', () => {
  it('keeps as many requests in flight as it has clients, and never more', async () => {
    // The first four are answered when all of them are there.
    const first = Promise.withResolvers<void>();
    const inFlight = { now: 0, most: 0 };
    const client = await serve(async (request, response) => {
      inFlight.most = Math.max(inFlight.most, ++inFlight.now);
      if (inFlight.now === 4) first.resolve();
      await Promise.all([first.promise, once(request.resume(), 'end')]);
      inFlight.now--;
      response.end('{"usage":{"input_tokens":7}}');
    });
    const result = await runClosedLoop({ client, mix, concurrency: 4, ...LIMITS });
    expect(inFlight.most).toBe(4);
    expect(result.latency.samples).toBeGreaterThanOrEqual(20);
    expect(result.tokensPerSecond).toBeCloseTo(7 * result.requestsPerSecond, 6);
    expect(result).toMatchObject({ refused: 0, errors: 0 });
  });

  it('counts refusals and errors apart, and times neither', async () => {
    const full = await serve(reply(503, '{}', { 'retry-after-ms': '1' }));
    const limits = { ...LIMITS, maxDurationMs: 200 };
    const refused = await runClosedLoop({ client: full, mix, concurrency: 2, ...limits });
    expect(refused).toMatchObject({ errors: 0, latency: { samples: 0 } });
    expect(refused.refused).toBeGreaterThan(0);
    const broken = await serve((request) => request.destroy());
    const failed = await runClosedLoop({ client: broken, mix, concurrency: 2, ...limits });
    expect(failed).toMatchObject({ refused: 0, latency: { samples: 0 } });
    expect(failed.errors).toBeGreaterThan(0);
  });
});

describe('the paced loop', () => {
  it('sends at the rate it was given to the null endpoint', async () => {
    const endpoint = await NullEndpoint.start();
    const client = new BenchClient(endpoint.origin, 'key', 8);
    closers.push(
      () => endpoint.stop(),
      () => client.close(),
    );
    const startedMs = performance.now();
    const signal = AbortSignal.timeout(500);
    const answered = await runPaced({ client, mix, requestsPerSecond: 100, maxInFlight: 8, signal });
    const due = (performance.now() - startedMs) / 10;
    expect(answered).toBeGreaterThan(due / 2);
    expect(answered).toBeLessThanOrEqual(Math.ceil(due) + 1);
  });
});
