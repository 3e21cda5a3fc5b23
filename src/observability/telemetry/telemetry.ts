// What the program knows of OpenTelemetry: requests that become traces, metrics that are sent, an end. Interfaces alone;
// open-telemetry.ts, which is loaded only where a collector is configured, implements them.

import type { RequestSpan, RequestTracer, TracedRequest } from '../../domain/trace.ts';

/** What became of spans since the start. */
export interface SpanCounts {
  /** The collector has them. */
  readonly exported: number;
  /** The collector did not take them. */
  readonly failed: number;
  /** Requests that were served untraced, because too many spans waited. */
  readonly untracedRequests: number;
}

/** Numbers of the process in the form of prom-client's registry. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number | undefined>>;
    /** Of a histogram: `…_bucket`, `…_sum`, `…_count`. */
    readonly metricName?: string | undefined;
  }[];
}

export interface Telemetry extends RequestTracer {
  beginRequest(request: TracedRequest): RequestSpan;
  readonly counts: SpanCounts;
  /** From now on the collector is sent these, if it is to have metrics. */
  sendMetrics(read: () => Promise<readonly MetricFamily[]>): void;
  /** Sends no more metrics, and closes when the requests under way have ended. Never rejects. */
  retire(): Promise<void>;
  /** Sends what waits, as far as the collector takes it in time. Never throws. */
  close(): Promise<void>;
}

export interface TelemetryOptions {
  /** `/v1/traces` and `/v1/metrics` are appended. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** 0 to 1. */
  readonly sampleRatio: number;
  readonly continueTraces: boolean;
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** Tells this process from others of the same service. */
  readonly instanceId: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly metrics: boolean;
  readonly metricsIntervalMs: number;
  readonly maxQueuedSpans: number;
  readonly exportTimeoutMs: number;
  /** How long the end of the server waits for the collector. */
  readonly closeTimeoutMs: number;
  /** Of the exporter, in words without any secret. */
  readonly onTrouble: (message: string) => void;
}
