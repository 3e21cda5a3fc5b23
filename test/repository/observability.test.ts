// deploy/observability: alerts and dashboard ask for metrics and labels that there are, and Prometheus's own tool reads their
// expressions and runs the alerts in made-up worlds.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { MetricFamily } from '../../src/observability/telemetry/telemetry.ts';
import {
  alerts,
  dashboard,
  OBSERVABILITY,
  panelQueries,
  readObservability,
  rules,
  selectorsIn,
} from '../deploy/expressions.ts';
import { idleGauges } from '../observability/idle-gauges.ts';

const worlds: readonly { readonly name: string }[] = parse(readObservability('alerts.test.yaml')).tests;
const asked = [...alerts, ...panelQueries];

/** What Prometheus itself knows of every series, and of whether it could be read. */
const LABELS_OF_PROMETHEUS = ['instance', 'job', 'le'];
const SERIES_OF_PROMETHEUS = ['up'];

let families: readonly MetricFamily[];

/** All metrics that a server may have, each with a value, so that its labels show. */
beforeAll(async () => {
  const metrics = createMetrics({
    engineStatus: idleGauges,
    answerCounts: () => ({ miss: 0, merged: 0, hit: 0, keptBytes: 0 }),
    spanCounts: () => ({ exported: 0, failed: 0, untracedRequests: 0 }),
  });
  metrics.requestStarted();
  metrics.requestFinished({ method: 'GET', route: '/', status: 500, errorCode: 'internal_error', durationMs: 1 });
  metrics.countTokens('model', { inputTokens: 1, outputTokens: 1 });
  metrics.ledgerAnswered('settle', 1);
  metrics.servedUnbilled();
  metrics.upstreamCalled('upstream', 'model');
  metrics.upstreamFailed({ upstream: 'upstream', model: 'model', code: 'upstream_error', reason: 'connect' });
  metrics.upstreamAnswered('upstream', 'model');
  metrics.upstreamPassedOn('upstream', 'model', 'connect');
  metrics.upstreamLeftOut('upstream', 'model', true);
  families = await metrics.read();
});

const familyOf = (series: string): MetricFamily | undefined =>
  families.find(({ name, type }) => name === series || (type === 'histogram' && series === `${name}_bucket`));

describe('every expression', () => {
  it.each(asked)('of $of asks for metrics and labels that there are', ({ expr }) => {
    const selectors = selectorsIn(expr);
    expect(selectors).not.toEqual([]);
    for (const { series, labels } of selectors) {
      if (SERIES_OF_PROMETHEUS.includes(series)) continue;
      const family = familyOf(series);
      expect(family, series).toBeDefined();
      const known = [...LABELS_OF_PROMETHEUS, ...(family?.values ?? []).flatMap((value) => Object.keys(value.labels))];
      expect(labels.filter((label) => !known.includes(label))).toEqual([]);
    }
  });

  it('is told apart from one of a metric or a label that there is not', () => {
    expect(familyOf('umpire_http_request_total')).toBeUndefined();
    expect(selectorsIn('sum by (le, route) (rate(umpire_a_total{code="b", instance=~".*"}[5m])) / up')).toMatchObject([
      { series: 'umpire_a_total', labels: ['code', 'instance', 'le', 'route'] },
      { series: 'up', labels: ['le', 'route'] },
    ]);
  });
});

describe('every alert', () => {
  it.each(rules)(
    '$alert says how bad it is, what it is and what to do, and is tried',
    ({ alert, labels, annotations }) => {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(Object.keys(annotations).sort()).toEqual(['description', 'summary']);
      for (const wanted of ['fires', 'is silent']) {
        expect(worlds.filter(({ name }) => name.startsWith(`${alert} ${wanted}`)).length).toBeGreaterThan(0);
      }
    },
  );
});

describe('the dashboard', () => {
  it('has every metric of ours that counts something, and its panels side by side', () => {
    const shown = asked.flatMap(({ expr }) => selectorsIn(expr).map(({ series }) => familyOf(series)?.name));
    const ours = families.map(({ name }) => name).filter((name) => name.startsWith('umpire_'));
    // Figures that others imply.
    const implied = ['umpire_answer_cache_bytes', 'umpire_engine_loaded_models', 'umpire_upstream_answers_total'];
    expect(ours.filter((name) => !shown.includes(name)).sort()).toEqual(implied);
    const places = dashboard.panels.map(({ gridPos: { x, y } }) => `${x},${y}`);
    expect(new Set(places).size).toBe(places.length);
    expect(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });
});

const PROMTOOL = 'promtool';
const hasPromtool = spawnSync(PROMTOOL, ['--version']).error === undefined;
if (!hasPromtool)
  process.stderr.write('No promtool here: alerts and expressions of deploy/observability are not tried.\n');

describe.skipIf(!hasPromtool)('promtool', () => {
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(PROMTOOL, args, { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };
  const newFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'umpire-rules-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return folder;
  };

  it('finds the alerts well-formed, and that each fires and is silent as its worlds say', () => {
    expect(run('check', 'rules', join(OBSERVABILITY, 'alerts.yaml'))).toMatchObject({ status: 0 });
    expect(run('test', 'rules', join(OBSERVABILITY, 'alerts.test.yaml'))).toMatchObject({ status: 0 });
  });

  it('notices an alert that is wrong', () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'alerts.yaml'), readObservability('alerts.yaml').replace('> 0.05', '> 0.5'));
    writeFileSync(join(folder, 'alerts.test.yaml'), readObservability('alerts.test.yaml'));
    expect(run('test', 'rules', join(folder, 'alerts.test.yaml'))).toMatchObject({
      status: 1,
      output: expect.stringContaining('UmpireOverloaded'),
    });
  });

  it('reads every expression of the dashboard', () => {
    const file = join(newFolder(), 'dashboard.yaml');
    const recorded = asked.map(({ expr }, index) => ({ record: `expression:${index}`, expr }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
    const checked = run('check', 'rules', file);
    expect(checked).toMatchObject({ status: 0, output: expect.stringContaining(`${asked.length} rules found`) });
  });
});
