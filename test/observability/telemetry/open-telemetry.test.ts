// What leaves for a collector, and what one that is slow, silent or unfriendly costs: never a request, never memory.

import { describe, expect, it, onTestFinished } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import { inSpan } from '../../../src/domain/trace.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { openTelemetry } from '../../../src/observability/telemetry/open-telemetry.ts';
import type { Telemetry, TelemetryOptions } from '../../../src/observability/telemetry/telemetry.ts';
import { until } from '../../waiting/until.ts';
import { idleGauges } from '../idle-gauges.ts';
import { drip, EVERY_TRACE, hang, OtlpCollector, refuse, take, toRecord } from './otlp-collector.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
const SAMPLED = `00-${TRACE_ID}-${PARENT_ID}-01`;
const UNSAMPLED = `00-${TRACE_ID}-${PARENT_ID}-00`;

const SAMPLE = { method: 'GET', route: '/healthz', status: 200, errorCode: null } as const;

interface Opened {
  readonly collector: OtlpCollector;
  readonly telemetry: Telemetry;
  readonly troubles: string[];
}

async function open(changes: Partial<TelemetryOptions> = {}): Promise<Opened> {
  const collector = await OtlpCollector.start();
  const troubles: string[] = [];
  const telemetry = openTelemetry({
    ...EVERY_TRACE,
    endpoint: collector.address,
    onTrouble: (trouble) => troubles.push(trouble),
    ...changes,
  });
  onTestFinished(() => collector.close());
  return { collector, telemetry, troubles };
}

function begin(telemetry: Telemetry, headers: Record<string, string> = {}) {
  return telemetry.beginRequest({ method: 'POST', route: '/ai/v1/systemone', headers });
}

describe('a traced request', () => {
  it('arrives as spans of one trace, with their parents, facts and times', async () => {
    const { collector, telemetry } = await open({ resource: { 'deployment.environment.name': 'test' } });
    const request = begin(telemetry);
    const job = request.begin('job', { 'gen_ai.request.model': 'kev', left: undefined });
    const nowMs = performance.now();
    job.add('queue', nowMs - 2, nowMs - 1.5);
    job.note({ 'umpire.kept_tokens': 7, 'umpire.answer.source': 'run' });
    job.end();
    request.finish({ 'http.response.status_code': 200 }, false);
    await telemetry.close();

    const [queue, inner, outer] = await collector.untilSpans(({ length }) => length === 3);
    expect(outer).toMatchObject({
      name: 'POST /ai/v1/systemone',
      kind: 'server',
      parentId: '',
      status: 'unset',
      attributes: { 'http.request.method': 'POST', 'http.route': '/ai/v1/systemone', 'http.response.status_code': 200 },
      resource: {
        'service.name': 'umpire',
        'service.version': '1.2.3',
        'service.instance.id': 'host-1',
        'deployment.environment.name': 'test',
      },
    });
    expect(outer?.traceId).toBe(request.traceId);
    expect(inner).toMatchObject({ name: 'job', kind: 'internal', traceId: outer?.traceId, parentId: outer?.spanId });
    expect(inner?.attributes).toEqual({
      'gen_ai.request.model': 'kev',
      'umpire.kept_tokens': 7,
      'umpire.answer.source': 'run',
    });
    expect(queue).toMatchObject({ name: 'queue', traceId: outer?.traceId, parentId: inner?.spanId });
    expect(Number((queue?.endNs ?? 0n) - (queue?.startNs ?? 0n))).toBeCloseTo(500_000, -4);
    expect(Number(outer?.startNs)).toBeGreaterThan(Date.now() * 1e6 - 3_600e9);
    expect(outer?.startNs).toBeLessThanOrEqual(inner?.startNs ?? 0n);
    expect(outer?.endNs).toBeGreaterThanOrEqual(inner?.endNs ?? 0n);
    expect(telemetry.counts).toMatchObject({ exported: 3, failed: 0, untracedRequests: 0 });
  });

  it('is delivered with the headers of the configuration, without anybody closing anything', async () => {
    const { collector, telemetry } = await open({ headers: { authorization: 'Bearer collector-token' } });
    begin(telemetry).finish({}, false);
    await collector.untilSpans(({ length }) => length === 1);
    expect(collector.requests).toMatchObject([
      {
        path: '/v1/traces',
        headers: { authorization: 'Bearer collector-token', 'content-type': 'application/x-protobuf' },
      },
    ]);
    await telemetry.close();
  });

  it('tells the code of a failure, and never its message', async () => {
    const { collector, telemetry } = await open();
    const request = begin(telemetry);
    const failing = inSpan(request, 'settle', () =>
      Promise.reject(new AppError('store_unavailable', 'a text of the caller')),
    );
    await expect(failing).rejects.toThrow('a text of the caller');
    request.begin('parse').end(new SyntaxError('another text'));
    request.finish({}, true);
    await telemetry.close();
    const spans = await collector.untilSpans(({ length }) => length === 3);
    expect(spans.map(({ name, status, attributes }) => [name, status, attributes['error.type']])).toEqual([
      ['settle', 'error', 'store_unavailable'],
      ['parse', 'error', 'SyntaxError'],
      ['POST /ai/v1/systemone', 'error', undefined],
    ]);
    expect(collector.text).not.toContain('text');
  });

  it('ends once', async () => {
    const { collector, telemetry, troubles } = await open();
    const request = begin(telemetry);
    const parse = request.begin('parse');
    parse.end();
    parse.end(new Error('late'));
    parse.note({ late: true });
    request.finish({}, false);
    request.finish({}, true);
    await telemetry.close();
    const spans = await collector.untilSpans(({ length }) => length === 2);
    expect(spans.map(({ status }) => status)).toEqual(['unset', 'unset']);
    expect(troubles).toEqual([]);
  });
});

describe('the trace of a caller', () => {
  it('is continued, and handed on to servers that are asked', async () => {
    const { collector, telemetry } = await open();
    const request = begin(telemetry, { traceparent: SAMPLED, tracestate: 'vendor=abc,other=1' });
    const upstream = request.begin('upstream');
    const { traceparent, tracestate } = upstream.headers;
    upstream.end();
    request.finish({}, false);
    await telemetry.close();
    const [inner, outer] = await collector.untilSpans(({ length }) => length === 2);
    expect(outer).toMatchObject({ traceId: TRACE_ID, parentId: PARENT_ID, traceState: 'vendor=abc,other=1' });
    expect(inner).toMatchObject({ kind: 'client', parentId: outer?.spanId });
    expect(traceparent).toBe(`00-${TRACE_ID}-${inner?.spanId}-01`);
    expect(tracestate).toBe('vendor=abc,other=1');
  });

  it('that is not recorded is handed on, and nothing of it is sent', async () => {
    const { collector, telemetry } = await open();
    const request = begin(telemetry, { traceparent: UNSAMPLED });
    const upstream = request.begin('upstream');
    expect(upstream.headers['traceparent']).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`));
    upstream.end();
    request.add('queue', 0, 1);
    request.finish({}, false);
    begin(telemetry).finish({}, false);
    await telemetry.close();
    expect(await collector.untilSpans(({ length }) => length > 0)).toHaveLength(1);
    expect(collector.spans[0]?.traceId).not.toBe(TRACE_ID);
  });

  it('is left alone where the configuration says so', async () => {
    const { collector, telemetry } = await open({ continueTraces: false });
    begin(telemetry, { traceparent: UNSAMPLED, tracestate: 'vendor=abc' }).finish({}, false);
    await telemetry.close();
    const [span] = await collector.untilSpans(({ length }) => length === 1);
    expect(span).toMatchObject({ parentId: '', traceState: '' });
    expect(span?.traceId).not.toBe(TRACE_ID);
  });

  it.each([
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-${PARENT_ID}-01`,
    `ff-${TRACE_ID}-${PARENT_ID}-01`,
    `${SAMPLED}, ${SAMPLED}`,
  ])('is none where its header is %j', async (traceparent) => {
    const { collector, telemetry } = await open();
    begin(telemetry, { traceparent }).finish({}, false);
    await telemetry.close();
    const [span] = await collector.untilSpans(({ length }) => length === 1);
    expect(span?.parentId).toBe('');
    expect(span?.traceId).not.toBe(TRACE_ID);
  });

  it('is what a ratio leaves alone: only requests without one are sampled by it', async () => {
    const { collector, telemetry } = await open({ sampleRatio: 0 });
    for (let count = 0; count < 20; count++) begin(telemetry).finish({}, false);
    begin(telemetry, { traceparent: SAMPLED }).finish({}, false);
    await telemetry.close();
    expect(await collector.untilSpans(({ length }) => length > 0)).toMatchObject([{ traceId: TRACE_ID }]);
  });
});

it('a ratio of a quarter traces about a quarter', async () => {
  const { collector, telemetry } = await open({ sampleRatio: 0.25 });
  for (let count = 0; count < 2000; count++) begin(telemetry).finish({}, false);
  await telemetry.close();
  // Twelve standard deviations to either side.
  expect(collector.spans.length).toBeGreaterThan(270);
  expect(collector.spans.length).toBeLessThan(730);
});

describe('metrics', () => {
  it('are sent under the names of `/metrics`, with what they count', async () => {
    const metrics = createMetrics({ engineStatus: idleGauges });
    const { collector, telemetry } = await open({ metrics: true });
    telemetry.sendMetrics(() => metrics.read());
    metrics.requestStarted();
    metrics.requestStarted();
    metrics.requestFinished({ ...SAMPLE, durationMs: 7 });
    metrics.requestFinished({ ...SAMPLE, durationMs: 3_600_000 });
    await telemetry.close();

    const find = (name: string) => collector.metrics.find((metric) => metric.name === name);
    expect(find('umpire_engine_workers')?.gauge?.dataPoints).toMatchObject([{ asDouble: 2 }]);
    const total = find('umpire_http_requests_total')?.sum;
    expect(total).toMatchObject({ isMonotonic: true, aggregationTemporality: 'AGGREGATION_TEMPORALITY_CUMULATIVE' });
    expect(total?.dataPoints).toHaveLength(1);
    expect(total?.dataPoints[0]?.asDouble).toBe(2);
    expect(toRecord(total?.dataPoints[0]?.attributes ?? [])).toEqual({
      method: 'GET',
      route: '/healthz',
      status: '200',
    });
    const [duration] = find('umpire_http_request_duration_seconds')?.histogram?.dataPoints ?? [];
    expect(duration).toMatchObject({ count: '2', sum: 3600.007 });
    const bounds = duration?.explicitBounds ?? [];
    const counts = (duration?.bucketCounts ?? []).map(Number);
    expect(bounds).toHaveLength(15);
    expect(counts).toHaveLength(16);
    expect([counts[bounds.indexOf(0.01)], counts.at(-1)]).toEqual([1, 1]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(2);
  });

  it('of the whole registry are all sent', async () => {
    const metrics = createMetrics({ engineStatus: idleGauges });
    const { collector, telemetry } = await open({ metrics: true });
    telemetry.sendMetrics(() => metrics.read());
    await telemetry.close();
    const families = (await metrics.read()).filter(({ values }) => values.length > 0).map(({ name }) => name);
    expect(collector.metrics.map(({ name }) => name).sort()).toEqual(families.sort());
    expect(families.length).toBeGreaterThan(20);
  });

  it('stay here unless they are asked for', async () => {
    const { collector, telemetry } = await open();
    telemetry.sendMetrics(() => Promise.reject(new Error('Nobody wants them.')));
    begin(telemetry).finish({}, false);
    await telemetry.close();
    expect(collector.requests.map(({ path }) => path)).toEqual(['/v1/traces']);
  });

  it('do not hold up the end of the server where the collector hangs', async () => {
    const { collector, telemetry, troubles } = await open({
      metrics: true,
      closeTimeoutMs: 50,
      exportTimeoutMs: 60_000,
    });
    collector.answer = hang;
    telemetry.sendMetrics(async () => []);
    begin(telemetry).finish({}, false);
    await telemetry.close();
    expect(troubles).toEqual(['the collector did not take what waited when the server ended']);
  });
});

describe('a collector', () => {
  it('that refuses costs its spans, is told once, and is no hindrance', async () => {
    const { collector, telemetry, troubles } = await open();
    collector.answer = refuse;
    for (let count = 0; count < 600; count++) begin(telemetry).finish({}, false);
    await until('all are refused', () => telemetry.counts.failed === 600);
    expect(troubles).toHaveLength(1);
    await telemetry.close();
    expect(telemetry.counts).toMatchObject({ exported: 0, failed: 600, untracedRequests: 0 });
  });

  it('that is not there is told of at the end of its time', async () => {
    const { collector, telemetry, troubles } = await open({ exportTimeoutMs: 200 });
    collector.close();
    begin(telemetry).finish({}, false);
    await until('it has failed', () => telemetry.counts.failed === 1);
    expect(troubles).toHaveLength(1);
    await telemetry.close();
  });

  it.each([
    ['hangs', hang],
    ['answers without an end', drip],
  ])('that %s takes no more memory than its bound: further requests are served untraced', async (_how, answer) => {
    const { collector, telemetry } = await open({ maxQueuedSpans: 500, exportTimeoutMs: 600_000 });
    collector.answer = answer;
    for (let count = 0; count < 500; count++) begin(telemetry).finish({}, false);
    await until('it was asked', () => collector.requests.length > 0);
    const untraced = begin(telemetry, { traceparent: SAMPLED });
    expect(untraced.headers['traceparent']).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`));
    untraced.finish({}, false);
    expect(telemetry.counts).toMatchObject({ exported: 0, failed: 0, untracedRequests: 1 });
  });

  it('that hangs does not hold up the end of the server', async () => {
    const { collector, telemetry, troubles } = await open({ exportTimeoutMs: 600_000, closeTimeoutMs: 50 });
    collector.answer = hang;
    begin(telemetry).finish({}, false);
    await telemetry.close();
    expect(troubles).toEqual(['the collector did not take what waited when the server ended']);
  });

  it('that comes back has what follows', async () => {
    const { collector, telemetry } = await open({ maxQueuedSpans: 16, exportTimeoutMs: 500 });
    collector.answer = hang;
    for (let count = 0; count < 16; count++) begin(telemetry).finish({}, false);
    await until('they are given up', () => telemetry.counts.failed === 16);
    collector.answer = (response) => response.writeHead(503, { 'retry-after': '1' }).end();
    begin(telemetry).finish({}, false);
    await until('it was refused', () => collector.requests.length > 1);
    collector.answer = take;
    begin(telemetry).finish({}, false);
    await until('it has one', () => telemetry.counts.exported > 0);
    await telemetry.close();
  });

  it('is sent all that waits at the end, however much it is', async () => {
    const { collector, telemetry } = await open();
    for (let count = 0; count < 5000; count++) begin(telemetry).finish({}, false);
    await telemetry.close();
    expect(telemetry.counts).toMatchObject({ exported: 5000, failed: 0 });
    expect(collector.spans).toHaveLength(5000);
  });
});
