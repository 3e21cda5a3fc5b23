// OpenTelemetry as it is configured, or none. Another configuration takes its place while the server runs: requests under way
// end in the trace that they began in. Its packages are loaded only where somebody wants traces.

import { hostname } from 'node:os';
import type { Config } from '../config/schema.ts';
import type { RequestSpan, RequestTracer, TracedRequest } from '../domain/trace.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetrics, type Metrics, type MetricsSources } from '../observability/metrics.ts';
import type { MetricFamily, SpanCounts, Telemetry } from '../observability/telemetry/telemetry.ts';

/** An end of the server may be a part of a rolling restart: who waits for it waits for us. */
const CLOSE_TIMEOUT_MS = 3000;

interface TelemetryParts {
  readonly version: string;
  readonly logger: Logger;
}

/** What another configuration wants, opened and not used yet. One of both is called, once. */
interface NextTelemetry {
  take(): void;
  drop(): Promise<void>;
}

export class ServedTelemetry implements RequestTracer {
  readonly #parts: TelemetryParts;
  #written = '';
  #current: Telemetry | undefined;
  /** Of all that there have been. */
  readonly #counts: SpanCounts[] = [];
  readonly #leaving = new Set<Telemetry>();
  #readMetrics: (() => Promise<readonly MetricFamily[]>) | undefined;

  constructor(parts: TelemetryParts) {
    this.#parts = parts;
  }

  static async open(config: Config, parts: TelemetryParts): Promise<ServedTelemetry> {
    const served = new ServedTelemetry(parts);
    (await served.prepare(config)).take();
    return served;
  }

  /** @returns undefined where nobody wants traces */
  beginRequest(request: TracedRequest): RequestSpan | undefined {
    return this.#current?.beginRequest(request);
  }

  /** Since the start; undefined: nobody has wanted traces yet. */
  get counts(): SpanCounts | undefined {
    if (this.#counts.length === 0) return undefined;
    const sumOf = (name: keyof SpanCounts): number => this.#counts.reduce((sum, counts) => sum + counts[name], 0);
    return { exported: sumOf('exported'), failed: sumOf('failed'), untracedRequests: sumOf('untracedRequests') };
  }

  sendMetrics(read: () => Promise<readonly MetricFamily[]>): void {
    this.#readMetrics = read;
    this.#current?.sendMetrics(read);
  }

  async prepare({ telemetry }: Config): Promise<NextTelemetry> {
    const written = JSON.stringify(telemetry);
    if (written === this.#written) return { take: () => undefined, drop: async () => undefined };
    const next = await openConfigured(telemetry, this.#parts);
    return {
      take: () => {
        this.#written = written;
        this.#replace(next);
      },
      drop: async () => next?.close(),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#current, ...this.#leaving].map((telemetry) => telemetry?.close()));
  }

  #replace(next: Telemetry | undefined): void {
    const before = this.#current;
    this.#current = next;
    if (next !== undefined) this.#counts.push(next.counts);
    if (this.#readMetrics !== undefined) next?.sendMetrics(this.#readMetrics);
    if (before === undefined) return;
    this.#leaving.add(before);
    void before.retire().finally(() => this.#leaving.delete(before));
  }
}

async function openConfigured(
  { endpoint, headers = {}, ...options }: Config['telemetry'],
  { version, logger }: TelemetryParts,
): Promise<Telemetry | undefined> {
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
export function openMetrics(telemetry: ServedTelemetry | undefined, sources: MetricsSources): Metrics {
  const metrics = createMetrics({ ...sources, spanCounts: telemetry && (() => telemetry.counts) });
  telemetry?.sendMetrics(() => metrics.read());
  return metrics;
}
