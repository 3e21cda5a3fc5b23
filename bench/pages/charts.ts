// Line charts as SVG, several to a page. Pure.

import { drawSvg, round, text } from './svg.ts';

const PANEL = { width: 460, height: 330 };
const PLOT = { left: 62, top: 34, width: 380, height: 210 };
const LEGEND = { rowHeight: 16 };
const HEAD_HEIGHT = 34;
const COLUMNS = 2;
/** Told apart by colour and by dash, for those who see few colours. */
const STYLES = [
  { colour: '#1f5fa8', dash: '' },
  { colour: '#c2571a', dash: '6 3' },
  { colour: '#2c7a3f', dash: '2 3' },
  { colour: '#7a3fa0', dash: '8 3 2 3' },
  { colour: '#8a6d00', dash: '4 4' },
  { colour: '#555555', dash: '1 4' },
] as const;

export interface Series {
  readonly name: string;
  /** Ascending in x; a y that is not a number is left out. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export type Scale = 'linear' | 'log';

export interface Chart {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly xScale: Scale;
  readonly yScale: Scale;
  /** Series of the same name have the same style in all charts of a page. */
  readonly series: readonly Series[];
}

interface Axis {
  readonly ticks: readonly number[];
  /** 0 to 1 along the axis. */
  place(value: number): number;
}

export function drawPage(title: string, charts: readonly Chart[]): string {
  const names = [...new Set(charts.flatMap(({ series }) => series.map(({ name }) => name)))];
  const rows = Math.ceil(charts.length / COLUMNS);
  const legendHeight = names.length * LEGEND.rowHeight + 12;
  const width = PANEL.width * Math.min(COLUMNS, charts.length);
  const height = HEAD_HEIGHT + rows * PANEL.height + legendHeight;
  return drawSvg({ title, width, height, fontSize: 11 }, [
    text({ x: 16, y: 22, words: title, size: 14 }),
    ...charts.map((chart, index) => {
      const at = [(index % COLUMNS) * PANEL.width, HEAD_HEIGHT + Math.floor(index / COLUMNS) * PANEL.height];
      return `<g transform="translate(${at.join(' ')})">\n${drawChart(chart, names).join('\n')}\n</g>`;
    }),
    ...drawLegend(names, HEAD_HEIGHT + rows * PANEL.height),
  ]);
}

function drawLegend(names: readonly string[], top: number): string[] {
  return names.flatMap((name, index) => {
    const y = top + 8 + index * LEGEND.rowHeight;
    const words = text({ x: PLOT.left + 36, y: y + 4, words: name });
    return [`<line x1="${PLOT.left}" y1="${y}" x2="${PLOT.left + 28}" y2="${y}" ${strokeOf(name, names)}/>`, words];
  });
}

function strokeOf(name: string, names: readonly string[]): string {
  const style = STYLES[names.indexOf(name) % STYLES.length] ?? STYLES[0];
  return `stroke="${style.colour}" stroke-width="1.8"${style.dash === '' ? '' : ` stroke-dasharray="${style.dash}"`}`;
}

function drawChart(chart: Chart, names: readonly string[]): string[] {
  const points = chart.series.flatMap((series) => series.points.filter(isDrawable(chart)));
  const xAxis = makeAxis(
    points.map(({ x }) => x),
    chart.xScale,
  );
  const yAxis = makeAxis(
    points.map(({ y }) => y),
    chart.yScale,
  );
  const x = (value: number): number => round(PLOT.left + PLOT.width * xAxis.place(value));
  const y = (value: number): number => round(PLOT.top + PLOT.height * (1 - yAxis.place(value)));
  const [right, bottom] = [PLOT.left + PLOT.width, PLOT.top + PLOT.height];
  const grid = [
    ...xAxis.ticks.map((tick) => `M${x(tick)} ${PLOT.top}V${bottom}`),
    ...yAxis.ticks.map((tick) => `M${PLOT.left} ${y(tick)}H${right}`),
  ];
  return [
    text({ x: PLOT.left, y: 22, words: chart.title, size: 12 }),
    `<path d="${grid.join('')}" stroke="#e8e8e8"/>`,
    ...xAxis.ticks.map((tick) => text({ x: x(tick), y: bottom + 16, words: formatTick(tick), anchor: 'middle' })),
    ...yAxis.ticks.map((tick) => text({ x: PLOT.left - 6, y: y(tick) + 4, words: formatTick(tick), anchor: 'end' })),
    `<rect x="${PLOT.left}" y="${PLOT.top}" width="${PLOT.width}" height="${PLOT.height}" fill="none" stroke="#444444"/>`,
    text({ x: PLOT.left + PLOT.width / 2, y: bottom + 36, words: chart.xLabel, anchor: 'middle' }),
    `<g transform="translate(14 ${PLOT.top + PLOT.height / 2}) rotate(-90)">${text({ x: 0, y: 0, words: chart.yLabel, anchor: 'middle' })}</g>`,
    ...chart.series.flatMap((series) => {
      const drawn = series.points.filter(isDrawable(chart)).map((point) => [x(point.x), y(point.y)] as const);
      if (drawn.length === 0) return [];
      const stroke = strokeOf(series.name, names);
      const dots = drawn.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="2.6"/>`);
      return [
        `<polyline points="${drawn.map((pair) => pair.join(',')).join(' ')}" fill="none" ${stroke}/>`,
        `<g fill="#ffffff" ${stroke.split(' ')[0]}>${dots.join('')}</g>`,
      ];
    }),
  ];
}

/** A logarithm knows no zero. */
function isDrawable({ xScale, yScale }: Chart): (point: { x: number; y: number }) => boolean {
  const fits = (value: number, scale: Scale): boolean => Number.isFinite(value) && (scale === 'linear' || value > 0);
  return ({ x, y }) => fits(x, xScale) && fits(y, yScale);
}

/** Linear axes begin at 0. */
function makeAxis(values: readonly number[], scale: Scale): Axis {
  if (scale === 'log') return makeLogAxis(values.length === 0 ? [1, 10] : values);
  const most = Math.max(0, ...values);
  const ticks = listLinearTicks(most === 0 ? 1 : most);
  const top = ticks.at(-1) ?? 1;
  return { ticks, place: (value) => value / top };
}

/** Ticks at powers of two for values that are such powers, otherwise at 1, 2 and 5 times powers of ten, or at these alone. */
function makeLogAxis(values: readonly number[]): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const isDoubling = values.every((value) => Number.isInteger(Math.log2(value)));
  const factors = most / least > 1000 ? [1] : [1, 2, 5];
  const candidates = isDoubling
    ? Array.from({ length: 41 }, (_, index) => 2 ** (index - 10))
    : Array.from({ length: 19 }, (_, index) => factors.map((factor) => factor * 10 ** (index - 9))).flat();
  const from = candidates.findLastIndex((tick) => tick <= least * (1 + 1e-9));
  const to = candidates.findIndex((tick) => tick >= most * (1 - 1e-9));
  const ticks = candidates.slice(Math.max(0, from), Math.max(from + 1, to) + 1);
  const [first = 1, last = 10] = [ticks[0], ticks.at(-1)];
  return { ticks, place: (value) => Math.log(value / first) / Math.log(last / first) };
}

/** Four to eight of 1, 2 or 5 times a power of ten; the last is at or above `most`. */
export function listLinearTicks(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => most / size <= 7) ?? 10 * power;
  const count = Math.ceil(most / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

function formatTick(value: number): string {
  if (value >= 1e6) return `${round(value / 1e6)}M`;
  if (value >= 10_000) return `${round(value / 1000)}k`;
  return String(Number(value.toPrecision(3)));
}
