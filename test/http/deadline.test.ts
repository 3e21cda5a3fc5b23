// How long a caller will wait: the header, and refusals at once where it cannot be kept.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { DECISION, MeteredServer } from '../application/metered-server.ts';
import { startTestServer, type TestServer } from '../application/test-server.ts';

const EMBEDDING = { model: 'text-embed-mini', input: 'one' };
const RERANKING = { model: 'reranker', query: 'one', documents: ['two'] };
const ROUTES = [
  ['systemone', '/ai/v1/systemone', DECISION],
  ['embeddings', '/ai/v1/embeddings', EMBEDDING],
  ['rerank', '/ai/v1/rerank', RERANKING],
] as const;

describe.each(ROUTES)('the deadline of %s', (_name, path, body) => {
  let server: TestServer;
  let deadlinesMs: (number | undefined)[];
  beforeAll(async () => {
    server = await startTestServer();
    const { decide, embed, rerank } = server.engine;
    deadlinesMs = [];
    server.engine.decide = (job, caller) => {
      deadlinesMs.push(caller.deadlineMs);
      return decide(job, caller);
    };
    server.engine.embed = (job, caller) => {
      deadlinesMs.push(caller.deadlineMs);
      return embed(job, caller);
    };
    server.engine.rerank = (job, caller) => {
      deadlinesMs.push(caller.deadlineMs);
      return rerank(job, caller);
    };
  });
  afterAll(() => server.app.close());

  it('is handed to the engine, and none is none', async () => {
    for (const headers of [{}, { 'x-umpire-deadline-ms': '1' }, { 'x-umpire-deadline-ms': '600000' }]) {
      expect((await server.post(path, body, headers)).status).toBe(200);
    }
    expect(deadlinesMs).toEqual([undefined, 1, 600_000]);
  });

  it.each(['0', '600001', '-1', '1.5', '1e3', 'soon', '', '1, 2', '0x10', '1000000000000'])(
    'is not "%s"',
    async (text) => {
      const reply = await server.post(path, body, { 'x-umpire-deadline-ms': text });
      expect(reply.status).toBe(400);
      expect(reply.json.error).toMatchObject({ code: 'invalid_request', param: 'x-umpire-deadline-ms' });
    },
  );
});

describe('a request for which there is no room', () => {
  const refusal = new AppError('overloaded', 'It cannot be answered in time.', { retryAfterMs: 1500 });
  let server: MeteredServer;
  beforeAll(async () => {
    server = await MeteredServer.start();
  });
  afterAll(() => server.close());

  it('is refused before anything is opened for it, once its key is known to have room', async () => {
    const caller = await server.createCaller();
    expect((await server.decide(caller)).status).toBe(200);
    const reserve = server.ledger.reserve.bind(server.ledger);
    let reservations = 0;
    server.ledger.reserve = (reservation) => {
      reservations += 1;
      return reserve(reservation);
    };
    server.engine.findRefusal = () => refusal;
    server.engine.decide = () => Promise.reject(new Error('It must not run.'));
    const reply = await server.decide(caller, { 'x-umpire-deadline-ms': '50' });
    server.repair();
    server.ledger.reserve = reserve;
    expect(reply.status).toBe(503);
    expect(reply.headers).toMatchObject({ 'retry-after': '2', 'retry-after-ms': '1500' });
    expect(reply.json.error.code).toBe('overloaded');
    expect(reservations).toBe(0);
    expect(await server.rows(caller)).toHaveLength(1);
    expect(await server.metricsText()).toContain('umpire_http_errors_total{code="overloaded"} 1');
  });

  it('is one line in the log', async () => {
    const caller = await server.createCaller();
    await server.decide(caller);
    server.engine.findRefusal = () => refusal;
    const before = server.log.length;
    await server.decide(caller);
    server.repair();
    expect(server.log.slice(before)).toMatchObject([{ msg: 'request', status: 503, code: 'overloaded' }]);
  });

  it('leaves no row and nothing reserved either when the engine says so later', async () => {
    const caller = await server.createCaller({ limits: { concurrentRequests: 4 } });
    server.engine.decide = () => Promise.reject(refusal);
    expect((await server.decide(caller)).status).toBe(503);
    server.repair();
    expect(await server.rows(caller)).toEqual([]);
    expect((await server.standing(caller)).standing.concurrent?.remaining).toBe(4);
  });

  it('is told of its budget first', async () => {
    const caller = await server.createCaller({ budget: { amountPicoUsd: 1n, reset: 'none' } });
    server.engine.findRefusal = () => refusal;
    expect((await server.decide(caller)).status).toBe(402);
    server.repair();
  });
});
