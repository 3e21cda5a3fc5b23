// The times that the overview is of, cut into buckets as the server cuts them.

import type uPlot from 'uplot/dist/uPlot.esm.js';
import { serverNowMs } from './admin-api.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export interface TimeRange {
  readonly id: string;
  readonly label: string;
  readonly lengthMs: number;
  /** What a report is grouped by. */
  readonly bucket: 'minute' | 'hour' | 'day';
  readonly bucketMs: number;
}

export const TIME_RANGES: readonly TimeRange[] = [
  { id: 'hour', label: 'Last hour', lengthMs: HOUR_MS, bucket: 'minute', bucketMs: MINUTE_MS },
  { id: 'day', label: 'Last 24 hours', lengthMs: DAY_MS, bucket: 'hour', bucketMs: HOUR_MS },
  { id: 'week', label: 'Last 7 days', lengthMs: 7 * DAY_MS, bucket: 'hour', bucketMs: HOUR_MS },
  { id: 'month', label: 'Last 30 days', lengthMs: 30 * DAY_MS, bucket: 'day', bucketMs: DAY_MS },
];

/** In seconds since the epoch. */
export interface TimeBuckets {
  readonly starts: readonly number[];
  /** Of the last of them. */
  readonly end: number;
  /** What all of it is. */
  readonly label: string;
  /** Days are those of UTC; hours and minutes are shown in the reader's zone. */
  readonly isUtc: boolean;
  readonly show: (start: number) => string;
  readonly axisFormat: uPlot.Axis.Values;
}

/** The buckets that end with the one that runs. */
export function bucketsOf({ lengthMs, bucketMs, bucket, label }: TimeRange): TimeBuckets {
  const count = Math.round(lengthMs / bucketMs);
  const lastMs = Math.floor(serverNowMs() / bucketMs) * bucketMs;
  const starts = Array.from({ length: count }, (_, index) => (lastMs - (count - 1 - index) * bucketMs) / 1000);
  const isUtc = bucket === 'day';
  const zone = isUtc ? { timeZone: 'UTC' } : {};
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...zone });
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...zone });
  const isByDays = lengthMs > DAY_MS;
  const showAxis = (start: number): string => (isByDays ? day : time).format(start * 1000);
  return {
    starts,
    end: (lastMs + bucketMs) / 1000,
    label: isUtc ? `${label}, by days in UTC` : label,
    isUtc,
    show: (start) => `${day.format(start * 1000)}${isUtc ? ' (UTC)' : `, ${time.format(start * 1000)}`}`,
    axisFormat: (_plot, splits) =>
      splits.map((split, index) =>
        index > 0 && showAxis(split) === showAxis(splits[index - 1] ?? 0) ? '' : showAxis(split),
      ),
  };
}

/** For `from` of a report. */
export function firstInstantOf({ starts }: TimeBuckets): string {
  return new Date((starts[0] ?? 0) * 1000).toISOString();
}
