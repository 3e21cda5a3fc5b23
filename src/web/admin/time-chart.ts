// A plot over time: stacked bars or lines, with a legend that tells the sums, or the moment that is pointed at, and the same
// as a table for those who do not see it.

import { h, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot/dist/uPlot.esm.js';
import { useElementWidth, useThemeTurns } from './chart-surroundings.ts';
import { DataTable } from './data-table.ts';
import type { TimeBuckets } from './time-ranges.ts';

export interface ChartSeries {
  readonly label: string;
  /** One for each bucket; null: nothing to tell. */
  readonly values: readonly (number | null)[];
  /** Shown beside the label while nothing is pointed at. */
  readonly summary: string;
}

export interface TimeChartProps {
  readonly title: string;
  readonly buckets: TimeBuckets;
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  /** `bars` are stacked. */
  readonly kind: 'bars' | 'lines';
  /** Said in place of the plot where there is nothing to draw. */
  readonly none: string;
}

const HEIGHT_PX = 190;
const VALUE_AXIS_PX = 62;
const TIME_AXIS_PX = 28;
const TICK_EVERY_PX = 36;
/** As many as `--series-…` of base.css. */
const COLOURS = 7;

export function TimeChart(props: TimeChartProps): JSX.Element {
  const { title, buckets, series, format, kind, none } = props;
  const [pointed, setPointed] = useState<number>();
  const place = useRef<HTMLDivElement>(null);
  const widthPx = useElementWidth(place);
  const turns = useThemeTurns();
  const isEmpty = series.every(({ values }) => values.every((value) => value === null || value === 0));
  useEffect(() => {
    if (place.current === null || isEmpty || widthPx === 0) return;
    const plot = new uPlot(
      optionsOf(props, { place: place.current, widthPx, setPointed }),
      dataOf(props),
      place.current,
    );
    return () => plot.destroy();
  }, [buckets, series, kind, widthPx, turns, isEmpty]);
  const at = pointed === undefined ? undefined : buckets.starts[pointed];
  return h('figure', { class: 'chart panel' }, [
    h('figcaption', null, [
      h('h3', null, title),
      h('span', { class: 'soft chart-moment' }, at === undefined ? buckets.label : buckets.show(at)),
    ]),
    h(
      'div',
      { ref: place, class: 'chart-place', 'aria-hidden': true },
      isEmpty ? h('p', { class: 'empty' }, none) : null,
    ),
    isEmpty ? h('p', { class: 'for-ears' }, none) : null,
    isEmpty ? null : h(Legend, { series, pointed, format }),
    isEmpty ? null : h(AsTable, { title, buckets, series, format }),
  ]);
}

interface LegendProps {
  readonly series: readonly ChartSeries[];
  readonly pointed: number | undefined;
  readonly format: (value: number) => string;
}

function Legend({ series, pointed, format }: LegendProps): JSX.Element {
  const told = ({ values, summary }: ChartSeries): string => {
    if (pointed === undefined) return summary;
    const value = values[pointed];
    return value === undefined || value === null ? '–' : format(value);
  };
  return h(
    'ul',
    { class: 'chart-legend' },
    series.map((each, index) =>
      h('li', { key: each.label }, [
        h('i', { class: `swatch swatch-${index % COLOURS}`, 'aria-hidden': true }),
        h('span', { class: 'chart-label' }, each.label),
        h('b', null, told(each)),
      ]),
    ),
  );
}

function AsTable({ title, buckets, series, format }: Omit<TimeChartProps, 'kind' | 'none'>): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  const told = (values: ChartSeries['values'], index: number): string => {
    const value = values[index];
    return value === undefined || value === null ? '–' : format(value);
  };
  const columns = [
    { heading: 'From', isName: true, show: (index: number) => buckets.show(buckets.starts[index] ?? 0) },
    ...series.map(({ label, values }) => ({
      heading: label,
      isNumber: true,
      show: (index: number) => told(values, index),
    })),
  ];
  const hasFigure = (index: number) => series.some(({ values }) => Boolean(values[index]));
  const rows = buckets.starts.map((_, index) => index).filter(hasFigure);
  return h('details', { class: 'chart-table', onToggle: () => setIsOpen((before) => !before) }, [
    h('summary', null, 'As a table'),
    isOpen
      ? h(
          'div',
          { class: 'scrolled', tabIndex: 0, role: 'region', 'aria-label': `${title} as a table` },
          h(DataTable<number>, { caption: title, columns, rows, keyOf: (index) => index, none: null }),
        )
      : null,
  ]);
}

interface ChartPlace {
  readonly place: HTMLElement;
  readonly widthPx: number;
  readonly setPointed: (index: number | undefined) => void;
}

function optionsOf({ buckets, series, format, kind }: TimeChartProps, chart: ChartPlace): uPlot.Options {
  const colours = readColours(chart.place);
  const bars = uPlot.paths.bars?.({ size: [0.86, 48], align: 1 });
  const drawn = series.map((_, index) => {
    const colour = colours.series[index % COLOURS] ?? '';
    return kind === 'bars'
      ? { fill: colour, width: 0, points: { show: false }, ...(bars === undefined ? {} : { paths: bars }) }
      : { stroke: colour, width: 2, points: { show: isSparse(series[index]), size: 5, fill: colour }, spanGaps: false };
  });
  const axis = { stroke: colours.text, grid: { stroke: colours.line, width: 1 }, ticks: { show: false } };
  const font = '12px system-ui, sans-serif';
  const [firstStart = 0] = buckets.starts;
  return {
    width: chart.widthPx,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'lines' } },
    ...(buckets.isUtc ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') } : {}),
    scales: {
      x: { time: true, range: () => [firstStart, buckets.end] },
      y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.08 : 1] },
    },
    axes: [
      { ...axis, font, size: TIME_AXIS_PX, grid: { show: false }, values: buckets.axisFormat },
      {
        ...axis,
        font,
        size: VALUE_AXIS_PX,
        space: TICK_EVERY_PX,
        values: (_plot, splits) => splits.map((split) => format(split)),
      },
    ],
    series: [{}, ...(kind === 'bars' ? drawn.toReversed() : drawn)],
    hooks: { setCursor: [(plot) => chart.setPointed(plot.cursor.idx ?? undefined)] },
  };
}

/** A line of one point is none: it is drawn as a dot. */
function isSparse(series: ChartSeries | undefined): boolean {
  return (series?.values.filter((value) => value !== null).length ?? 0) < 25;
}

/** Bars that are stacked are drawn from the highest down, each up to its own sum. */
function dataOf({ buckets, series, kind }: TimeChartProps): uPlot.AlignedData {
  if (kind === 'lines') return [[...buckets.starts], ...series.map(({ values }) => [...values])];
  const heights = new Array<number>(buckets.starts.length).fill(0);
  const stacked = series.map(({ values }) => {
    for (const [index, value] of values.entries()) heights[index] = (heights[index] ?? 0) + (value ?? 0);
    return [...heights];
  });
  return [[...buckets.starts], ...stacked.toReversed()];
}

/** A canvas knows no names of colours: they are resolved by an element. */
function readColours(place: HTMLElement): { series: readonly string[]; text: string; line: string } {
  const probe = place.appendChild(document.createElement('span'));
  const read = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const series = Array.from({ length: COLOURS }, (_, index) => read(`--series-${index}`));
  const colours = { series, text: read('--ink-soft'), line: read('--line') };
  probe.remove();
  return colours;
}
