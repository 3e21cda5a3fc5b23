// Traces while the configuration of them changes: what has begun ends where it began, and nothing is counted twice.

import { expect, it, onTestFinished } from 'vitest';
import { ServedTelemetry } from '../../src/app/served-telemetry.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { idleGauges } from '../observability/idle-gauges.ts';
import { OtlpCollector } from '../observability/telemetry/otlp-collector.ts';

const REQUEST = { method: 'POST', route: '/ai/v1/systemone', headers: {} };
const logger = createLogger({ level: 'silent', format: 'json' });

function configOf(settings: Record<string, string>): Config {
  return loadConfig({ flags: {}, env: settings }).config;
}

const to = ({ address }: OtlpCollector, more: Record<string, string> = {}): Config =>
  configOf({ UMPIRE_TELEMETRY_ENDPOINT: address, ...more });

async function startCollectors(): Promise<[OtlpCollector, OtlpCollector]> {
  const collectors: [OtlpCollector, OtlpCollector] = [await OtlpCollector.start(), await OtlpCollector.start()];
  onTestFinished(() => {
    for (const collector of collectors) collector.close();
  });
  return collectors;
}

async function serve(config: Config): Promise<ServedTelemetry> {
  const served = await ServedTelemetry.open(config, { version: '1.2.3', logger });
  onTestFinished(() => served.close());
  return served;
}

it('go to another collector from the next request on, and those under way to the one they began with', async () => {
  const [first, second] = await startCollectors();
  const served = await serve(to(first));
  const before = served.beginRequest(REQUEST);
  (await served.prepare(to(second))).take();
  const after = served.beginRequest(REQUEST);
  before?.begin('job').end();
  before?.finish({}, false);
  after?.finish({}, false);
  await first.untilSpans(({ length }) => length === 2);
  await served.close();
  const idsOf = ({ spans }: OtlpCollector) => new Set(spans.map(({ traceId }) => traceId));
  expect(idsOf(first)).toEqual(new Set([before?.traceId]));
  expect(idsOf(second)).toEqual(new Set([after?.traceId]));
  expect(served.counts).toEqual({ exported: 3, failed: 0, untracedRequests: 0 });
});

it('begin and end with a reload', async () => {
  const [collector] = await startCollectors();
  const served = await serve(configOf({}));
  expect(served.beginRequest(REQUEST)).toBeUndefined();
  expect(served.counts).toBeUndefined();
  (await served.prepare(to(collector))).take();
  const traced = served.beginRequest(REQUEST);
  (await served.prepare(configOf({}))).take();
  expect(served.beginRequest(REQUEST)).toBeUndefined();
  traced?.finish({}, false);
  await collector.untilSpans(({ length }) => length === 1);
});

it('stay as they are where nothing of them has changed, or the reload fails', async () => {
  const [first, second] = await startCollectors();
  const served = await serve(to(first));
  (await served.prepare(to(first, { UMPIRE_PORT: '1' }))).take();
  await (await served.prepare(to(second))).drop();
  served.beginRequest(REQUEST)?.finish({}, false);
  await served.close();
  expect(first.spans).toHaveLength(1);
  expect(second.requests).toHaveLength(0);
});

it('take the metrics of the process with them', async () => {
  const [first, second] = await startCollectors();
  const metrics = createMetrics({ engineStatus: idleGauges });
  const served = await serve(to(first, { UMPIRE_TELEMETRY_METRICS: 'true' }));
  served.sendMetrics(() => metrics.read());
  (await served.prepare(to(second, { UMPIRE_TELEMETRY_METRICS: 'true' }))).take();
  await served.close();
  const names = ({ metrics: sent }: OtlpCollector) => sent.map(({ name }) => name);
  expect(names(first)).toContain('umpire_engine_workers');
  expect(names(second)).toContain('umpire_engine_workers');
});
