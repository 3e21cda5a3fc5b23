// The spans of a request on its way through the application, as a collector has them: real OpenTelemetry over a real ledger,
// around the fake engine.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { openTelemetry } from '../../src/observability/telemetry/open-telemetry.ts';
import type { Telemetry } from '../../src/observability/telemetry/telemetry.ts';
import type { ChatUpstream } from '../../src/upstream/chat-upstream.ts';
import { CircuitBreaker } from '../../src/upstream/circuit-breaker.ts';
import { type FailoverMember, FailoverUpstream } from '../../src/upstream/failover-upstream.ts';
import { HttpChatUpstream } from '../../src/upstream/http-chat-upstream.ts';
import { DECISION, MeteredServer } from '../application/metered-server.ts';
import { type CollectedSpan, EVERY_TRACE, OtlpCollector } from '../observability/telemetry/otlp-collector.ts';
import { answerHello, refuse, streamChunks } from '../upstream/upstream-answers.ts';
import { UpstreamDouble } from '../upstream/upstream-double.ts';
import { chatUpstreamOptions } from '../upstream/upstream-fixture.ts';
import { until } from '../waiting/until.ts';

const PARENT_ID = 'b7ad6b7169203331';
const TEXT = 'the-text-of-the-caller';
const REQUEST_ID = 'the-id-of-the-request';
const NAME = 'the-name-of-the-question';

let collector: OtlpCollector;
let telemetry: Telemetry;
let upstream: UpstreamDouble;
let upstreams: readonly ChatUpstream[];
let server: MeteredServer;

beforeAll(async () => {
  collector = await OtlpCollector.start();
  telemetry = openTelemetry({
    ...EVERY_TRACE,
    endpoint: collector.address,
    onTrouble: (trouble) => {
      throw new Error(trouble);
    },
  });
  upstream = await UpstreamDouble.start(answerHello);
  const member = (name: string, baseUrl: string): FailoverMember => ({
    upstream: new HttpChatUpstream(chatUpstreamOptions(baseUrl, { name, modelId: 'llama-twice' })),
    weight: undefined,
    breaker: new CircuitBreaker({ failures: 100, pauseMs: 1000 }),
    totalMs: 60_000,
    streamTotalMs: 60_000,
    firstByteMs: 60_000,
  });
  const members = [member('away', 'http://127.0.0.1:1/v1'), member('second', upstream.baseUrl)];
  upstreams = [new HttpChatUpstream(chatUpstreamOptions(upstream.baseUrl)), new FailoverUpstream({ members })];
  server = await MeteredServer.start({}, { tracer: telemetry, upstreams });
});
beforeEach(() => {
  server.repair();
  collector.spans.length = 0;
});
afterAll(async () => {
  await server.close();
  await Promise.all(upstreams.map((one) => one.close()));
  await upstream.close();
  await telemetry.close();
  collector.close();
});

/** Of one request, once all of it is there, by name: those within a request end before it. */
async function spansOf({ traceId }: ReturnType<typeof newTrace>): Promise<ReadonlyMap<string, CollectedSpan>> {
  const ofRequest = (spans: readonly CollectedSpan[]) => spans.filter((span) => span.traceId === traceId);
  const spans = await collector.untilSpans((all) => ofRequest(all).some(({ kind }) => kind === 'server'));
  return new Map(ofRequest(spans).map((span) => [span.kind === 'server' ? 'request' : span.name, span]));
}

/** A trace of a caller's own, by which its spans are found. */
function newTrace() {
  const traceId = randomBytes(16).toString('hex');
  return { traceId, headers: { traceparent: `00-${traceId}-${PARENT_ID}-01` } };
}

describe('a decision', () => {
  it('has a span for each part, inside that of the request, in their order', async () => {
    const caller = await server.createCaller({ budget: { amountPicoUsd: 1_000_000_000_000n, reset: 'none' } });
    const trace = newTrace();
    expect((await server.decide(caller, trace.headers)).status).toBe(200);
    const spans = await spansOf(trace);
    expect([...spans.keys()].sort()).toEqual(
      [
        'authenticate',
        'count_tokens',
        'infer',
        'job',
        'parse',
        'queue',
        'request',
        'reserve',
        'settle',
        'tokenize',
      ].sort(),
    );
    const request = spans.get('request');
    expect(request).toMatchObject({
      name: 'POST /ai/v1/systemone',
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/ai/v1/systemone',
        'http.response.status_code': 200,
        'gen_ai.request.model': 'kev',
        'gen_ai.usage.input_tokens': 5,
        'gen_ai.usage.output_tokens': 0,
      },
    });
    const inOrder = ['authenticate', 'parse', 'reserve', 'job', 'settle'].map((name) => spans.get(name));
    for (const [place, span] of inOrder.entries()) {
      expect(span?.parentId).toBe(request?.spanId);
      expect(span?.startNs).toBeGreaterThanOrEqual(inOrder[place - 1]?.endNs ?? request?.startNs ?? 0n);
      expect(span?.endNs).toBeLessThanOrEqual(request?.endNs ?? 0n);
    }
    expect(spans.get('parse')?.attributes).toEqual({
      'http.request.body.size': Buffer.byteLength(JSON.stringify(DECISION)),
    });
    expect(spans.get('job')?.attributes).toEqual({
      'gen_ai.request.model': 'kev',
      'umpire.answer.source': 'run',
      'umpire.kept_tokens': 0,
      'umpire.tokenize.worker_ms': 0.5,
      'umpire.infer.worker_ms': 2,
    });
    for (const name of ['queue', 'tokenize', 'infer']) expect(spans.get(name)?.parentId).toBe(spans.get('job')?.spanId);
  });

  it('that shares the answer of another has neither tokenising nor inference', async () => {
    const caller = await server.createCaller();
    const { engine } = server;
    const { decide } = engine;
    engine.decide = async (job, by) => ({ ...(await decide(job, by)), source: { answer: 'kept', keptTokens: 3 } });
    const trace = newTrace();
    await server.decide(caller, trace.headers);
    const spans = await spansOf(trace);
    expect(spans.get('job')?.attributes).toMatchObject({ 'umpire.answer.source': 'kept', 'umpire.kept_tokens': 3 });
    expect([...spans.keys()]).not.toContain('infer');
  });

  it('that begins before it is booked has the same spans but the wait for the store', async () => {
    const caller = await server.createCaller();
    const trace = newTrace();
    await server.decide(caller);
    await server.decide(caller, trace.headers);
    const spans = await spansOf(trace);
    expect([...spans.keys()].sort()).toEqual(
      ['authenticate', 'infer', 'job', 'parse', 'queue', 'request', 'settle', 'tokenize'].sort(),
    );
  });

  it('belongs to the trace of its caller, to which its line in the log leads', async () => {
    const caller = await server.createCaller();
    const trace = newTrace();
    await server.decide(caller, trace.headers);
    const spans = await spansOf(trace);
    expect(spans.get('request')?.parentId).toBe(PARENT_ID);
    await until('the log names the trace', () =>
      server.log.some(({ msg, traceId }) => msg === 'request' && traceId === trace.traceId),
    );
  });

  it('leaves no text, no name and no key with the collector', async () => {
    const caller = await server.createCaller();
    const headers = { 'x-request-id': REQUEST_ID, 'user-agent': TEXT, 'idempotency-key': TEXT };
    const body = { ...DECISION, state: TEXT, questions: { [NAME]: { type: 'noul', instructions: TEXT } } };
    expect((await server.decide(caller, headers, body)).status).toBe(200);
    expect((await server.decide(caller, headers, { ...body, model: TEXT })).status).toBe(404);
    expect((await server.decide(caller, headers, { ...body, [TEXT]: TEXT })).status).toBe(400);
    expect((await server.get(`/ai/v1/${TEXT}?${TEXT}`, caller)).status).toBe(404);
    expect((await server.get('/ai/v1/models', { headers: { authorization: `Bearer ${TEXT}` } })).status).toBe(401);
    const last = newTrace();
    await server.get('/ai/v1/models', { headers: { ...caller.headers, ...last.headers } });
    await spansOf(last);
    expect(collector.spans.filter(({ kind }) => kind === 'server').length).toBeGreaterThanOrEqual(6);
    const secret = caller.headers['authorization']?.replace('Bearer ', '') ?? 'none';
    for (const forbidden of [TEXT, NAME, REQUEST_ID, secret, caller.key.id])
      expect(collector.text).not.toContain(forbidden);
  });
});

describe('a request that is refused', () => {
  it('for its key has a failed authentication, and is no fault of the server', async () => {
    const trace = newTrace();
    await server.get('/ai/v1/models', { headers: { ...trace.headers, authorization: 'Bearer nobody' } });
    const spans = await spansOf(trace);
    expect([...spans.keys()].sort()).toEqual(['authenticate', 'request']);
    expect(spans.get('authenticate')).toMatchObject({
      status: 'error',
      attributes: { 'error.type': 'invalid_api_key' },
    });
    expect(spans.get('request')).toMatchObject({
      status: 'unset',
      attributes: { 'http.response.status_code': 401, 'error.type': 'invalid_api_key' },
    });
  });

  it('for its body has a failed reading', async () => {
    const caller = await server.createCaller();
    const trace = newTrace();
    expect((await server.decide(caller, trace.headers, '{"model": "kev"')).status).toBe(400);
    const spans = await spansOf(trace);
    expect(spans.get('parse')).toMatchObject({ status: 'error', attributes: { 'error.type': 'invalid_request' } });
    expect([...spans.keys()]).not.toContain('job');
  });

  it('by the engine is told in the job', async () => {
    const caller = await server.createCaller();
    server.engine.findRefusal = () => new AppError('overloaded', 'Too much work waits.', { retryAfterMs: 1000 });
    const trace = newTrace();
    expect((await server.decide(caller, trace.headers)).status).toBe(503);
    const spans = await spansOf(trace);
    expect(spans.get('job')).toMatchObject({ status: 'error', attributes: { 'error.type': 'overloaded' } });
    expect(spans.get('request')).toMatchObject({ status: 'error', attributes: { 'http.response.status_code': 503 } });
  });

  it('by the ledger is told in what failed there', async () => {
    const caller = await server.createCaller();
    server.ledger.down = 'settle';
    const trace = newTrace();
    const reply = await server.settled(server.decide(caller, trace.headers));
    expect(reply.status).toBe(503);
    const spans = await spansOf(trace);
    expect(spans.get('settle')).toMatchObject({ status: 'error', attributes: { 'error.type': 'store_unavailable' } });
  });
});

describe('a chat call', () => {
  const ASKED = { model: 'llama', messages: [{ role: 'user', content: TEXT }] };

  it.each([false, true])('has a span of its upstream, which is sent the trace (streamed: %s)', async (stream) => {
    const caller = await server.createCaller();
    const trace = newTrace();
    upstream.answer = stream ? streamChunks() : answerHello;
    const headers = { ...caller.headers, ...trace.headers, tracestate: 'vendor=abc' };
    const reply = await server.post('/ai/v1/chat/completions', { ...ASKED, stream }, { headers });
    expect(reply.status).toBe(200);
    const spans = await spansOf(trace);
    expect([...spans.keys()].sort()).toEqual(['authenticate', 'parse', 'request', 'reserve', 'settle', 'upstream']);
    expect(spans.get('upstream')).toMatchObject({
      kind: 'client',
      status: 'unset',
      parentId: spans.get('request')?.spanId,
      attributes: { 'umpire.upstream': 'double', 'gen_ai.request.model': 'llama' },
    });
    expect(spans.get('upstream')?.attributes['umpire.upstream.wait_ms']).toBeGreaterThan(0);
    const sent = upstream.lastRequest.headers;
    expect(sent['traceparent']).toBe(`00-${trace.traceId}-${spans.get('upstream')?.spanId}-01`);
    expect(sent['tracestate']).toBe('vendor=abc');
    expect(sent.authorization).toBe('Bearer upstream-secret');
  });

  it('that fails at its upstream has the code there', async () => {
    const caller = await server.createCaller();
    const trace = newTrace();
    upstream.answer = refuse(500, { message: TEXT });
    const reply = await server.post('/ai/v1/chat/completions', ASKED, {
      headers: { ...caller.headers, ...trace.headers },
    });
    expect(reply.status).toBe(502);
    const spans = await spansOf(trace);
    expect(spans.get('upstream')).toMatchObject({
      status: 'error',
      attributes: { 'error.type': 'upstream_error', 'umpire.upstream.failure': 'server_error' },
    });
    expect(collector.text).not.toContain(TEXT);
  });

  it('that goes on to another upstream has a span of each', async () => {
    const caller = await server.createCaller();
    const trace = newTrace();
    upstream.answer = answerHello;
    const asked = { ...ASKED, model: 'llama-twice' };
    const reply = await server.post('/ai/v1/chat/completions', asked, {
      headers: { ...caller.headers, ...trace.headers },
    });
    expect(reply.status).toBe(200);
    await spansOf(trace);
    const tried = collector.spans.filter(({ traceId, name }) => traceId === trace.traceId && name === 'upstream');
    expect(
      tried.map(({ status, attributes }) => [
        attributes['umpire.upstream'],
        status,
        attributes['error.type'],
        attributes['umpire.upstream.failure'],
      ]),
    ).toEqual([
      ['away', 'error', 'upstream_error', 'connect'],
      ['second', 'unset', undefined, undefined],
    ]);
    expect(upstream.lastRequest.headers['traceparent']).toBe(`00-${trace.traceId}-${tried[1]?.spanId}-01`);
  });
});

it('what machines ask every few seconds is not traced', async () => {
  const quiet = newTrace();
  for (const path of ['/healthz', '/readyz', '/metrics']) await server.get(path, quiet);
  const asked = newTrace();
  const caller = await server.createCaller();
  await server.get('/ai/v1/models', { headers: { ...caller.headers, ...asked.headers } });
  expect([...(await spansOf(asked)).keys()]).toContain('request');
  expect(collector.spans.filter(({ traceId }) => traceId === quiet.traceId)).toEqual([]);
});
