// Which figures of a comparison are drawn, and how. Pure.

import type { ClosedCell } from '../parts/closed-part.ts';
import type { OpenCell } from '../parts/open-part.ts';
import type { ClosedPart, OpenPart, PeersReport, ScalingPart } from './peers-report.ts';
import { type Chart, drawPage, type Series } from './svg.ts';

export interface Plot {
  /** Follows the report's name. */
  readonly suffix: string;
  readonly title: string;
  readonly svg: string;
}

export function drawPlots({ parts, machine }: PeersReport): Plot[] {
  const on = `${machine.cpu ?? 'unknown CPU'}, ${machine.cores} cores`;
  const plot = (suffix: string, title: string, charts: readonly Chart[]): Plot[] =>
    charts.length === 0 ? [] : [{ suffix, title, svg: drawPage(`${title} (${on})`, charts) }];
  const { decisions, embeddings, open, scaling } = parts;
  return [
    ...(decisions ? plot('decisions', 'Decisions, closed loop', closedCharts(decisions.figures, 'requests')) : []),
    ...(open ? plot('open', 'Decisions, open loop', openCharts(open.figures)) : []),
    ...(scaling ? plot('scaling', 'One decision at a time', scalingCharts(scaling.figures)) : []),
    ...(embeddings ? plot('embeddings', 'Embeddings, closed loop', closedCharts(embeddings.figures, 'tokens')) : []),
  ];
}

/** Classes that were measured at one concurrency alone are no line. */
function closedCharts(part: ClosedPart, unit: 'requests' | 'tokens'): Chart[] {
  const loads = [...Map.groupBy(part.cells, ({ load }) => load)].filter(
    ([, cells]) => new Set(cells.map(({ concurrency }) => concurrency)).size > 1,
  );
  return loads.flatMap(([load, cells]): Chart[] => {
    const chart = (label: string, yOf: (cell: ClosedCell) => number): Chart => ({
      title: `${load}: ${label}`,
      xLabel: 'requests at a time',
      yLabel: label,
      xScale: 'log',
      yScale: label.startsWith('p99') ? 'log' : 'linear',
      series: part.servers.map(({ id, title }) => ({
        name: title,
        points: cells.filter(({ peer }) => peer === id).map((cell) => ({ x: cell.concurrency, y: yOf(cell) })),
      })),
    });
    const rate = (cell: ClosedCell): number => (unit === 'tokens' ? cell.tokensPerSecond : cell.requestsPerSecond);
    return [chart(`${unit}/s`, rate), chart('p99, ms', (cell) => cell.latency.p99Ms)];
  });
}

function openCharts(part: OpenPart): Chart[] {
  const loads = [...new Set(part.cells.map(({ load }) => load))];
  return loads.flatMap((load): Chart[] => {
    const series = (yOf: (cell: OpenCell) => number): Series[] =>
      part.servers.flatMap(({ id, title }) =>
        [false, true].flatMap((hasDeadline): Series[] => {
          const cells = part.cells.filter(
            (cell) => cell.load === load && cell.peer === id && cell.hasDeadline === hasDeadline,
          );
          const points = cells.map((cell) => ({ x: cell.offeredPerSecond, y: yOf(cell) }));
          points.sort((a, b) => a.x - b.x);
          return points.length === 0 ? [] : [{ name: hasDeadline ? `${title}, deadline of 200 ms` : title, points }];
        }),
      );
    const axes = { xLabel: 'offered requests/s', xScale: 'linear' } as const;
    const goodput = 'answers within 200 ms, per second';
    return [
      {
        ...axes,
        title: `${load}: goodput`,
        yLabel: goodput,
        yScale: 'linear',
        series: series((cell) => cell.goodPerSecond),
      },
      {
        ...axes,
        title: `${load}: p99 of answers`,
        yLabel: 'p99, ms',
        yScale: 'log',
        series: series((cell) => cell.latency.p99Ms),
      },
      {
        ...axes,
        title: `${load}: p99 of refusals`,
        yLabel: 'p99, ms',
        yScale: 'linear',
        series: series((cell) => cell.refusal.p99Ms),
      },
      {
        ...axes,
        title: `${load}: share refused`,
        yLabel: 'share',
        yScale: 'linear',
        series: series((cell) => cell.refusedShare),
      },
    ];
  });
}

function scalingCharts({ points, servers }: ScalingPart): Chart[] {
  const along = (by: 'stateTokens' | 'questions', fixedBy: 'stateTokens' | 'questions', fixed: number): Series[] =>
    servers.map(({ id, title }) => ({
      name: title,
      points: points
        .filter((point) => point.peer === id && point[fixedBy] === fixed)
        .map((point) => ({ x: point[by], y: point.p50Ms })),
    }));
  const axes = { yLabel: 'p50, ms', xScale: 'linear', yScale: 'linear' } as const;
  return [
    { ...axes, title: '1 question', xLabel: 'tokens of the document', series: along('stateTokens', 'questions', 1) },
    { ...axes, title: '512 tokens', xLabel: 'questions of 4 options', series: along('questions', 'stateTokens', 512) },
  ];
}
