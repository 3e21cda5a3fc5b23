// OpenTelemetry as it is configured, or none: its packages are loaded only where somebody wants traces.

import { hostname } from 'node:os';
import type { Config } from '../config/schema.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetrics, type Metrics, type MetricsSources } from '../observability/metrics.ts';
import type { Telemetry } from '../observability/telemetry/telemetry.ts';

/** An end of the server may be a part of a rolling restart: who waits for it waits for us. */
const CLOSE_TIMEOUT_MS = 3000;

/** @returns undefined where no collector is configured */
export async function openConfiguredTelemetry(
  { telemetry }: Config,
  { version, logger }: { readonly version: string; readonly logger: Logger },
): Promise<Telemetry | undefined> {
  const { endpoint, headers = {}, ...options } = telemetry;
  if (endpoint === undefined) return undefined;
  const { openTelemetry } = await import('../observability/telemetry/open-telemetry.ts');
  return openTelemetry({
    ...options,
    endpoint,
    headers,
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
    serviceVersion: version,
    instanceId: `${hostname()}-${process.pid}`,
    onTrouble: (trouble) => logger.warn({ trouble }, 'traces or metrics did not reach their collector'),
  });
}

/** The metrics of the process, those of traces among them; sent to the collector, if it is to have them. */
export function openMetrics(telemetry: Telemetry | undefined, sources: MetricsSources): Metrics {
  const metrics = createMetrics({ ...sources, spanCounts: telemetry && (() => telemetry.counts) });
  telemetry?.sendMetrics(() => metrics.read());
  return metrics;
}
