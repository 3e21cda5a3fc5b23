// What deploy/observability asks Prometheus: the alerts, the panels of the dashboard, and the series that they name.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from './run.ts';

export const OBSERVABILITY = join(ROOT, 'deploy/observability');
export const readObservability = (file: string): string => readFileSync(join(OBSERVABILITY, file), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[];
}

export const rules: readonly Rule[] = parse(readObservability('alerts.yaml')).groups[0].rules;
export const dashboard = JSON.parse(readObservability('grafana-dashboard.json')) as {
  readonly panels: readonly Panel[];
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');

/** As Grafana sends it. */
const sent = (expr: string): string => expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*');

export interface Asked {
  /** An alert or the title of a panel. */
  readonly of: string;
  readonly expr: string;
  /** Of a panel that shows one number. */
  readonly isFigure?: boolean;
}

export const alerts: readonly Asked[] = rules.map(({ alert, expr }) => ({ of: alert, expr }));
export const panelQueries: readonly Asked[] = panels.flatMap(({ title, type, targets = [] }) =>
  targets.map(({ expr }) => ({ of: title, expr: sent(expr), isFigure: type === 'stat' })),
);

interface Selector {
  readonly series: string;
  /** As they stand between the braces. */
  readonly matchers: string;
  /** Those that it asks for, and those by which the expression groups. */
  readonly labels: readonly string[];
}

/** `a{b="c"}` → a and b; `by (d)` is of all of them. */
export function selectorsIn(expr: string): Selector[] {
  const found = [...expr.matchAll(/\b((?:umpire|nodejs|process)_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?/g)];
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/,\s*/));
  return found.map(([, series = '', matchers = '']) => ({
    series,
    matchers,
    labels: [...[...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label), ...grouped],
  }));
}
