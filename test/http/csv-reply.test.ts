// A report as CSV over a real port: as fast as its client reads, and no further than its client stays.

import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerRow } from '../../src/domain/ledger.ts';
import { UsageService } from '../../src/services/reports/reports.ts';
import type { UsageStore } from '../../src/storage/stores.ts';
import { AdminServer, type Caller } from '../application/admin-server.ts';
import { startServerOf, type TestServer } from '../application/test-server.ts';
import { turns, until } from '../waiting/until.ts';

/** A ledger without end. Tells of each page that is asked for. */
class EndlessUsage implements UsageStore {
  pages = 0;
  failAtPage = Number.POSITIVE_INFINITY;
  readonly #row: LedgerRow;

  constructor(row: LedgerRow) {
    this.#row = row;
  }

  async rows(_filter: unknown, { limit }: { readonly limit: number }): Promise<readonly LedgerRow[]> {
    this.pages += 1;
    if (this.pages >= this.failAtPage) throw new Error('the disk is gone');
    return Array.from({ length: limit }, () => this.#row);
  }

  async sum(): Promise<never> {
    throw new Error('not asked here');
  }

  async latency(): Promise<never> {
    throw new Error('not asked here');
  }

  async ended(): Promise<never> {
    throw new Error('not asked here');
  }

  async rollUp(): Promise<never> {
    throw new Error('not asked here');
  }
}

let backing: AdminServer;
let admin: Caller;
let usage: EndlessUsage;
let server: TestServer;
let port: number;
beforeAll(async () => {
  backing = await AdminServer.start();
  admin = await backing.createCaller({ scopes: ['admin'] });
  await backing.bill(admin.key, { id: 'r1' });
  backing.clock.nowMs += 1;
  const [row] = await backing.stores.usage.rows(
    { fromMs: 0, toMs: backing.clock.nowMs },
    { before: undefined, limit: 1 },
  );
  if (row === undefined) throw new Error('There is no row.');
  usage = new EndlessUsage(row);
  const service = new UsageService({ usage, ledger: backing.stores.ledger });
  server = await startServerOf({
    authenticator: backing.keys,
    administration: { ...backing.administration, usage: service },
  });
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  port = (server.app.server.address() as AddressInfo).port;
});
afterAll(async () => {
  await server.app.close();
  await backing.close();
});

async function open(): Promise<IncomingMessage> {
  usage.pages = 0;
  const options = { port, host: '127.0.0.1', path: '/admin/v1/requests?format=csv', headers: admin.headers };
  return await new Promise((resolve, reject) => httpRequest(options, resolve).on('error', reject).end());
}

/** When the server is done with the one connection there is. */
async function disconnected(): Promise<void> {
  const { server: listener } = server.app;
  const countSockets = (): Promise<number> => new Promise((resolve) => listener.getConnections((_, n) => resolve(n)));
  await until('the connection has ended', async () => (await countSockets()) === 0);
}

describe('a CSV file without end', () => {
  it('is read from the store only as it is read by the client, and no more once the client left', async () => {
    const reply = await open();
    expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
    let bytes = 0;
    for await (const chunk of reply) {
      bytes += (chunk as Buffer).length;
      if (bytes > 5_000_000) break;
    }
    await disconnected();
    const { pages } = usage;
    // A page is 500 rows of some 200 bytes. What lies in buffers of the system between is a few megabytes at most.
    expect(pages * 100_000).toBeGreaterThan(4_000_000);
    expect(pages).toBeLessThan(400);
    await turns(20);
    expect(usage.pages).toBe(pages);
  });

  it('that breaks off is not a whole file to its client', async () => {
    usage.failAtPage = 3;
    const reply = await open();
    const read = (async () => {
      for await (const _chunk of reply);
    })();
    await expect(read).rejects.toThrow('aborted');
    expect(reply.complete).toBe(false);
    usage.failAtPage = Number.POSITIVE_INFINITY;
  });
});
