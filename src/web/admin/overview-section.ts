// Requests, tokens, money and times of a while, and how the server fares now.

import { signal } from '@preact/signals';
import { h, type JSX } from 'preact';
import { useCallback } from 'preact/hooks';
import { ErrorNotice } from '../components/notice.ts';
import { formatDollars } from '../format/figures.ts';
import { askAdmin, askWholeList } from './admin-api.ts';
import { nameOfKey } from './key-names.ts';
import { usePolled } from './polled.ts';
import { ServerPanel } from './server-panel.ts';
import { picoToDollars, showCount, showDuration } from './shown-figures.ts';
import { StatTile } from './stat-tile.ts';
import { type ChartSeries, TimeChart } from './time-chart.ts';
import { bucketsOf, firstInstantOf, TIME_RANGES, type TimeBuckets, type TimeRange } from './time-ranges.ts';
import { seriesOf } from './usage-series.ts';
import type { LatencyTimes, UsagePage, UsageSum, UsageTotals, WirePage } from './wire-types.ts';

const REFRESH_MS = 15_000;
const DEFAULT_RANGE = TIME_RANGES[1] as TimeRange;
const LATENCY_LINES = [
  ['p50_ms', 'Half within'],
  ['p95_ms', '95 % within'],
  ['p99_ms', '99 % within'],
] as const;
const NOTHING_YET = 'No requests in this time. Create a key, and send a request with it.';

const range = signal<TimeRange>(DEFAULT_RANGE);
const split = signal<'model' | 'key'>('model');

interface OverviewFigures {
  readonly buckets: TimeBuckets;
  readonly by: 'model' | 'key';
  readonly sums: readonly UsageSum[];
  readonly isCut: boolean;
  readonly totals: UsageTotals;
  readonly ends: readonly UsageSum[];
  readonly latency: LatencyTimes | undefined;
  readonly latencies: readonly LatencyTimes[];
}

export function OverviewSection(): JSX.Element {
  const [shownRange, by] = [range.value, split.value];
  const load = useCallback((abort: AbortSignal) => loadFigures(shownRange, by, abort), [shownRange, by]);
  const { value, error } = usePolled(load, REFRESH_MS);
  return h('div', { class: 'overview' }, [
    h(ServerPanel, {}),
    h('div', { class: 'toolbar' }, [
      h(Choice, {
        label: 'Time',
        options: TIME_RANGES.map(({ id, label }) => [id, label] as const),
        chosen: shownRange.id,
        onChoose: (id) => {
          range.value = TIME_RANGES.find((each) => each.id === id) ?? DEFAULT_RANGE;
        },
      }),
      h(Choice, {
        label: 'Split by',
        options: [
          ['model', 'Model'],
          ['key', 'Key'],
        ],
        chosen: by,
        onChoose: (id) => {
          split.value = id === 'key' ? 'key' : 'model';
        },
      }),
    ]),
    h(ErrorNotice, { error }),
    value === undefined
      ? h('p', { class: 'soft', role: 'status' }, error === undefined ? 'Loading…' : '')
      : h(OverviewCharts, { figures: value }),
  ]);
}

async function loadFigures(wanted: TimeRange, by: 'model' | 'key', abort: AbortSignal): Promise<OverviewFigures> {
  const buckets = bucketsOf(wanted);
  const from = `from=${firstInstantOf(buckets)}`;
  const call = { signal: abort };
  const [sums, ends, latency, latencies] = await Promise.all([
    askWholeList<UsageSum>(`/usage?${from}&group_by=${wanted.bucket},${by}`, abort),
    askAdmin<UsagePage>(`/usage?${from}&group_by=end`, call),
    askAdmin<WirePage<LatencyTimes>>(`/latency?${from}`, call),
    askAdmin<WirePage<LatencyTimes>>(`/latency?${from}&group_by=${wanted.bucket}&limit=1000`, call),
  ]);
  return {
    buckets,
    by,
    sums: sums.items,
    isCut: sums.isCut,
    totals: ends.totals,
    ends: ends.data,
    latency: latency.data[0],
    latencies: latencies.data,
  };
}

function OverviewCharts({ figures }: { readonly figures: OverviewFigures }): JSX.Element {
  const { buckets, by, sums, isCut } = figures;
  const nameOf = by === 'key' ? nameOfKey : (model: string) => model;
  const chart = (title: string, figure: (sum: UsageSum) => number, format: (value: number) => string) =>
    h(TimeChart, {
      title: `${title} by ${by}`,
      buckets,
      series: seriesOf(sums, { buckets, by, figure, nameOf, format }),
      format,
      kind: 'bars',
      none: NOTHING_YET,
    });
  return h('div', { class: 'overview' }, [
    h(Tiles, { figures }),
    isCut
      ? h('p', { class: 'notice notice-warn' }, 'There are too many groups for this page: the plots lack some.')
      : null,
    h('div', { class: 'charts' }, [
      chart('Requests', ({ requests }) => requests, showCount),
      chart('Tokens', (sum) => sum.input_tokens + sum.output_tokens, showCount),
      chart('Spend', ({ cost_pico_usd }) => picoToDollars(cost_pico_usd), formatDollars),
      h(TimeChart, {
        title: 'Time of completed requests',
        buckets,
        series: latencySeries(figures),
        format: showDuration,
        kind: 'lines',
        none: 'No completed requests in this time.',
      }),
    ]),
  ]);
}

function Tiles({ figures: { totals, ends, latency } }: { readonly figures: OverviewFigures }): JSX.Element {
  const failed = ends.filter(({ end }) => end !== 'completed').reduce((sum, { requests }) => sum + requests, 0);
  const spent = picoToDollars(totals.cost_pico_usd);
  return h('div', { class: 'tiles' }, [
    h(StatTile, {
      label: 'Requests',
      value: showCount(totals.requests),
      note: failed === 0 ? 'all completed' : `${showCount(failed)} not completed`,
    }),
    h(StatTile, {
      label: 'Tokens',
      value: showCount(totals.input_tokens + totals.output_tokens),
      note: `${showCount(totals.input_tokens)} in, ${showCount(totals.output_tokens)} out`,
    }),
    h(StatTile, {
      label: 'Spend',
      value: formatDollars(spent),
      note: totals.requests === 0 ? '' : `${formatDollars(spent / totals.requests)} a request`,
    }),
    h(StatTile, {
      label: 'Time, median',
      value: latency === undefined ? '–' : showDuration(latency.p50_ms),
      note:
        latency === undefined
          ? ''
          : `95 % within ${showDuration(latency.p95_ms)}, 99 % within ${showDuration(latency.p99_ms)}`,
    }),
  ]);
}

function latencySeries({ buckets, latency, latencies }: OverviewFigures): readonly ChartSeries[] {
  const byStart = new Map(latencies.map((each) => [Date.parse(each.start ?? '') / 1000, each]));
  return LATENCY_LINES.map(([figure, label]) => ({
    label,
    values: buckets.starts.map((start) => byStart.get(start)?.[figure] ?? null),
    summary: latency === undefined ? '–' : showDuration(latency[figure]),
  }));
}

interface ChoiceProps {
  readonly label: string;
  readonly options: readonly (readonly [id: string, label: string])[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

function Choice({ label, options, chosen, onChoose }: ChoiceProps): JSX.Element {
  return h('fieldset', { class: 'choice' }, [
    h('legend', null, label),
    options.map(([id, name]) =>
      h('label', { key: id }, [
        h('input', { type: 'radio', name: `choice-${label}`, checked: id === chosen, onChange: () => onChoose(id) }),
        h('span', null, name),
      ]),
    ),
  ]);
}
