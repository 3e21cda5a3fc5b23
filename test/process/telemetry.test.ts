// A server as its users run it, with a collector: spans of a real decision, an end that waits for nobody who hangs, and no
// secret of the collector anywhere.

import { afterEach, beforeEach, expect, it } from 'vitest';
import { testLogs } from '../log-scan/test-logs.ts';
import { hang, OtlpCollector } from '../observability/telemetry/otlp-collector.ts';
import { until } from '../waiting/until.ts';
import { decide, PATIENT, targetOf } from './decisions.ts';
import { ServerProcess } from './server-process.ts';

const TOKEN = 'collector-token-of-the-test';
const SETTINGS = {
  ...PATIENT,
  UMPIRE_MODELS: 'kev',
  UMPIRE_TELEMETRY_HEADERS: JSON.stringify({ authorization: `Bearer ${TOKEN}` }),
  UMPIRE_TELEMETRY_METRICS: 'true',
  UMPIRE_TELEMETRY_RESOURCE: JSON.stringify({ 'deployment.environment.name': 'test' }),
};

let collector: OtlpCollector;
let server: ServerProcess;

beforeEach(async () => {
  collector = await OtlpCollector.start();
  testLogs.keepSecret(TOKEN);
  server = new ServerProcess({ ...SETTINGS, UMPIRE_TELEMETRY_ENDPOINT: `${collector.address}/` });
});
afterEach(async () => {
  await server.dispose();
  collector.close();
});

it('a decision is a trace of its parts, and the last of them are sent when the server ends', async () => {
  const target = await targetOf(server);
  const document = 40;
  expect((await decide(target, document)).status).toBe(200);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  const request = collector.spans.find(({ name }) => name === 'POST /ai/v1/systemone');
  expect(request?.attributes).toMatchObject({ 'http.response.status_code': 200, 'gen_ai.request.model': 'kev' });
  expect(request?.resource).toMatchObject({ 'service.name': 'umpire', 'deployment.environment.name': 'test' });
  const parts = collector.spans.filter(({ traceId }) => traceId === request?.traceId);
  expect(parts.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['authenticate', 'parse', 'job', 'queue', 'tokenize', 'infer', 'settle']),
  );
  const infer = parts.find(({ name }) => name === 'infer');
  expect(Number((infer?.endNs ?? 0n) - (infer?.startNs ?? 0n))).toBeGreaterThan(0);
  expect(collector.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  expect(collector.metrics.map(({ name }) => name)).toContain('umpire_http_requests_total');
  expect(collector.text).not.toContain('refund');
});

it('whose collector hangs answers, ends with 0, and says that traces were lost', async () => {
  collector.answer = hang;
  const target = await targetOf(server);
  expect((await decide(target, 40)).status).toBe(200);
  await until('the collector was asked', () => collector.requests.length > 0);
  expect((await decide(target, 41)).status).toBe(200);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(server.output).toContain('the collector did not take what waited when the server ended');
});
