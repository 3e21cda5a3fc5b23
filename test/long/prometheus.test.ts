// deploy/observability and the metric of docs/guides/kubernetes.md, asked of Prometheus itself, which scrapes a server that
// has had every kind of traffic they speak of. What alerts do in time, test/repository/observability.test.ts has.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { alerts, panelQueries, rules, selectorsIn } from '../deploy/expressions.ts';
import { hasPrometheus, Prometheus } from '../deploy/prometheus.ts';
import { firstBlock } from '../guides/guide-blocks.ts';
import { PATIENT, startLongWork } from '../process/decisions.ts';
import { ROOT, ServerProcess } from '../process/server-process.ts';
import { until } from '../waiting/until.ts';

const KEY = 'a-fixed-key-for-this-test';
/** As Kubernetes names a pod to Prometheus. */
const POD = { namespace: 'default', pod: 'umpire-0' };
/** Of a server that is sound there is none: it has no fault, and its store is there. */
const NOT_PROVOKED = /code="(internal_error|store_unavailable)"/;
const BREAKER_FAILURES = 2;

if (!hasPrometheus()) process.stderr.write('No prometheus here: deploy/observability is not asked of it.\n');

const adapterRules = z.object({
  rules: z.object({
    custom: z.tuple([z.looseObject({ name: z.object({ as: z.string() }), metricsQuery: z.string() })]),
  }),
});

/** The query of the guide as prometheus-adapter sends it for one pod. */
function adapterQuery(): string {
  const page = readFileSync(join(ROOT, 'docs/guides/kubernetes.md'), 'utf8');
  const [rule] = adapterRules.parse(parse(firstBlock(page.slice(page.indexOf('prometheus-adapter:')), 'yaml'))).rules
    .custom;
  return rule.metricsQuery
    .replaceAll('<<.Series>>', rule.name.as)
    .replaceAll('<<.LabelMatchers>>', `namespace="${POD.namespace}",pod=~"${POD.pod}"`)
    .replaceAll('<<.GroupBy>>', 'pod');
}

describe.skipIf(!hasPrometheus())('Prometheus', () => {
  const upstreams: Server[] = [];
  let server: ServerProcess;
  let address: string;
  let prometheus: Prometheus;

  async function startUpstream(answer: { readonly status: number; readonly body: unknown }): Promise<string> {
    const upstream = createServer((request, response) => {
      request.resume();
      const isList = request.method === 'GET';
      response.writeHead(isList ? 200 : answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isList ? { data: [] } : answer.body));
    }).listen(0, '127.0.0.1');
    upstreams.push(upstream);
    await once(upstream, 'listening');
    return `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  }

  beforeAll(async () => {
    const message = { role: 'assistant', content: 'yes' };
    const completion = {
      ...{ id: '1', object: 'chat.completion', created: 1, model: 'any' },
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    };
    const models = [{ id: 'shared' }];
    const collector = createServer((_request, response) => response.writeHead(400).end()).listen(0, '127.0.0.1');
    upstreams.push(collector);
    await once(collector, 'listening');
    server = new ServerProcess({
      ...PATIENT,
      UMPIRE_API_KEY: KEY,
      UMPIRE_ENGINE_WORKERS: '1',
      // Half of them for one key.
      UMPIRE_ENGINE_QUEUE_MAX_JOBS: '6',
      UMPIRE_TELEMETRY_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      UMPIRE_UPSTREAMS: JSON.stringify([
        {
          ...{ name: 'broken', models, breakerFailures: BREAKER_FAILURES, breakerPauseMs: 3_600_000 },
          baseUrl: await startUpstream({ status: 500, body: { error: { message: 'broken' } } }),
        },
        { name: 'sound', models, baseUrl: await startUpstream({ status: 200, body: completion }) },
      ]),
    });
    address = await server.ready();
    prometheus = await Prometheus.start('umpire', [
      { address: new URL(address).host, labels: POD },
      { address: '127.0.0.1:1', labels: {} },
    ]);
  });

  afterAll(async () => {
    await prometheus.dispose();
    await server.dispose();
    for (const upstream of upstreams) upstream.close();
  });

  it('has a figure for each panel of one number before anything has happened', async () => {
    await prometheus.untilSome('count_over_time(umpire_engine_ready[5m]) >= 2');
    const figures = panelQueries.filter(({ isFigure }) => isFigure);
    expect(figures.length).toBeGreaterThan(3);
    for (const { of, expr } of figures) expect(await prometheus.query(expr), of).toHaveLength(1);
  });

  it('has the series of every expression after some traffic', async () => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const messages = [{ role: 'user', content: 'hello' }];
    for (let call = 0; call <= BREAKER_FAILURES; call++) {
      const body = JSON.stringify({ model: 'shared', messages });
      const reply = await fetch(`${address}/ai/v1/chat/completions`, { method: 'POST', headers, body });
      expect(reply.status).toBe(200);
      await reply.arrayBuffer();
    }
    const { target, replies } = await startLongWork(server, 3, KEY);
    const embeddings = Array.from({ length: 4 }, async (_, place) => {
      const body = JSON.stringify({ model: 'text-embed-mini', input: `text ${place}` });
      return (await fetch(`${target.address}/ai/v1/embeddings`, { method: 'POST', headers, body })).status;
    });
    // The worker is busy: what is answered at once is a refusal.
    expect(await Promise.race(embeddings)).toBe(503);
    await prometheus.untilSome('umpire_engine_queued_cost_seconds > 0');
    expect(await prometheus.query(adapterQuery())).toEqual([
      { labels: expect.objectContaining({ pod: POD.pod }), value: expect.any(Number) },
    ]);
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(await Promise.all(embeddings))).toEqual(new Set([200, 503]));

    const asked = [...alerts, ...panelQueries].filter(({ expr }) => !NOT_PROVOKED.test(expr));
    expect(asked.length).toBeGreaterThan(35);
    for (const { of, expr } of asked) {
      for (const { series, matchers } of selectorsIn(expr)) {
        await prometheus.untilSome(`count_over_time(${series}{${matchers}}[5m]) >= 2`);
      }
      expect(await prometheus.query(expr), of).toBeDefined();
    }
    for (const { of, expr } of panelQueries) {
      expect((await prometheus.query(expr)).length, of).toBeGreaterThan(0);
    }
  });

  it('could evaluate every alert, and has those pending that this server and its dead neighbour deserve', async () => {
    const deserved = ['UmpireDown', 'UmpireUpstreamIsLeftOut'];
    const standOf = async (name: string) => (await prometheus.alerts()).get(name)?.state;
    for (const name of deserved) await until(`${name} is pending`, async () => (await standOf(name)) === 'pending');
    const found = await prometheus.alerts();
    expect([...found.keys()].sort()).toEqual(rules.map(({ alert }) => alert).sort());
    expect([...found.values()].filter(({ health }) => health !== 'ok')).toEqual([]);
    expect(found.get('UmpireNotReady')?.state).toBe('inactive');
  });
});
