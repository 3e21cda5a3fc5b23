// The metrics of `/metrics` in OpenTelemetry's form, under the same names, so that one dashboard reads both.

import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import type { MetricFamily } from './telemetry.ts';

type FamilyValue = MetricFamily['values'][number];

/** The time over which counters have counted. */
export interface MetricSpan {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** Families without any value, and summaries, of which we have none, are left out. */
export function toMetricData(family: MetricFamily, span: MetricSpan): MetricData[] {
  const { name, help, type, values } = family;
  const data = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (values.length === 0) return [];
  switch (type) {
    case 'counter':
      return [{ ...data, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: toPoints(values, span) }];
    case 'gauge':
      return [{ ...data, dataPointType: DataPointType.GAUGE, dataPoints: toPoints(values, span) }];
    case 'histogram':
      return [{ ...data, dataPointType: DataPointType.HISTOGRAM, dataPoints: toHistograms(family, span) }];
    default:
      return [];
  }
}

function toPoints(values: readonly FamilyValue[], span: MetricSpan): DataPoint<number>[] {
  return values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ value, labels }) => ({ ...span, attributes: toAttributes(labels), value }));
}

/** One for each set of labels: its buckets are counted up to their bound there, and each by itself here. */
function toHistograms({ name, values }: MetricFamily, span: MetricSpan): DataPoint<Histogram>[] {
  const byLabels = Map.groupBy(values, ({ labels: { le: _bound, ...others } }) => JSON.stringify(others));
  return [...byLabels.values()].map((ofOne) => {
    const { le: _bound, ...labels } = ofOne[0]?.labels ?? {};
    const find = (suffix: string) => ofOne.find(({ metricName }) => metricName === `${name}_${suffix}`)?.value ?? 0;
    const buckets = ofOne.filter(({ metricName }) => metricName === `${name}_bucket`);
    const upTo = buckets.map(({ value }) => value);
    const histogram: Histogram = {
      buckets: {
        boundaries: buckets.map(({ labels: { le } }) => Number(le)).filter(Number.isFinite),
        counts: upTo.map((count, index) => count - (upTo[index - 1] ?? 0)),
      },
      sum: find('sum'),
      count: find('count'),
    };
    return { ...span, attributes: toAttributes(labels), value: histogram };
  });
}

function toAttributes(labels: FamilyValue['labels']): Attributes {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
  );
}
