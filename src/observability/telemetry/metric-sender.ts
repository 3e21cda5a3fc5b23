// Sends the metrics of the process to the collector at intervals, by OpenTelemetry's own reader and exporter.

import { hrTime } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import type { Resource } from '@opentelemetry/resources';
import {
  type CollectionResult,
  MeterProvider,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { toMetricData } from './metric-values.ts';
import type { MetricFamily } from './telemetry.ts';

export interface MetricDelivery {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly timeoutMillis: number;
}

export interface MetricSenderParts {
  readonly resource: Resource;
  readonly delivery: MetricDelivery;
  readonly intervalMs: number;
  readonly read: () => Promise<readonly MetricFamily[]>;
}

/** @returns what sends the last ones and ends it */
export function startMetricSender({ resource, delivery, intervalMs, read }: MetricSenderParts): () => Promise<void> {
  const startTime = hrTime();
  const producer: MetricProducer = {
    collect: async (): Promise<CollectionResult> => {
      const span = { startTime, endTime: hrTime() };
      const metrics = (await read()).flatMap((family) => toMetricData(family, span));
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'umpire' }, metrics }] }, errors: [] };
    },
  };
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(delivery),
    exportIntervalMillis: intervalMs,
    // The reader wants no timeout that is longer than its interval.
    exportTimeoutMillis: Math.min(delivery.timeoutMillis, intervalMs),
    metricProducers: [producer],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return () => provider.shutdown();
}
