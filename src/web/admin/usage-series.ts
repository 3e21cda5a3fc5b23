// Sums of a report as series of a plot: the largest groups, and one for all others.

import type { ChartSeries } from './time-chart.ts';
import type { TimeBuckets } from './time-ranges.ts';
import type { UsageSum } from './wire-types.ts';

/** With the others there are as many as there are colours. */
const SHOWN_GROUPS = 6;

export interface SeriesOptions {
  readonly buckets: TimeBuckets;
  /** `key` or `model`: what the sums are by, beside time. */
  readonly by: 'key' | 'model';
  readonly figure: (sum: UsageSum) => number;
  readonly nameOf: (group: string) => string;
  readonly format: (value: number) => string;
}

export function seriesOf(sums: readonly UsageSum[], options: SeriesOptions): readonly ChartSeries[] {
  const { buckets, by, figure, nameOf, format } = options;
  const places = new Map(buckets.starts.map((start, index) => [start, index]));
  const groups = new Map<string, { total: number; values: number[] }>();
  for (const each of sums) {
    const place = places.get(Date.parse(each.start ?? '') / 1000);
    if (place === undefined) continue;
    const name = each[by] ?? '';
    const group = groups.get(name) ?? { total: 0, values: new Array<number>(buckets.starts.length).fill(0) };
    groups.set(name, group);
    group.total += figure(each);
    group.values[place] = (group.values[place] ?? 0) + figure(each);
  }
  const ranked = [...groups].sort(([, left], [, right]) => right.total - left.total);
  const shown = ranked.slice(0, SHOWN_GROUPS).map(([name, { total, values }]) => ({
    label: nameOf(name),
    values,
    summary: format(total),
  }));
  const others = ranked.slice(SHOWN_GROUPS).map(([, group]) => group);
  if (others.length === 0) return shown;
  const values = buckets.starts.map((_, index) => others.reduce((sum, group) => sum + (group.values[index] ?? 0), 0));
  const total = others.reduce((sum, group) => sum + group.total, 0);
  return [...shown, { label: `${others.length} others`, values, summary: format(total) }];
}
