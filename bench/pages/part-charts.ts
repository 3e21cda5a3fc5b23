// Which figures of a comparison are drawn, and how. Pure.

import type { ClosedCell } from '../parts/closed.ts';
import type { OpenCell } from '../parts/open.ts';
import type { Chart, Series } from './charts.ts';
import type { ClosedPart, OpenPart, ScalingPart } from './peers-report.ts';

/** Classes that were measured at one concurrency alone are no line. */
export function closedCharts(part: ClosedPart, unit: 'requests' | 'tokens'): Chart[] {
  const loads = [...Map.groupBy(part.cells, ({ load }) => load)].filter(
    ([, cells]) => new Set(cells.map(({ concurrency }) => concurrency)).size > 1,
  );
  return loads.flatMap(([load, cells]) => {
    const chart = (yLabel: string, yScale: Chart['yScale'], yOf: (cell: ClosedCell) => number): Chart => ({
      title: `${load}: ${yLabel}`,
      xLabel: 'requests at a time',
      yLabel,
      xScale: 'log',
      yScale,
      series: part.servers.map(({ id, title: name }) => ({
        name,
        points: cells.filter(({ peer }) => peer === id).map((cell) => ({ x: cell.concurrency, y: yOf(cell) })),
      })),
    });
    const rateOf = (cell: ClosedCell): number => (unit === 'tokens' ? cell.tokensPerSecond : cell.requestsPerSecond);
    return [chart(`${unit}/s`, 'linear', rateOf), chart('p99, ms', 'log', ({ latency }) => latency.p99Ms)];
  });
}

export function openCharts(part: OpenPart): Chart[] {
  const loads = [...Map.groupBy(part.cells, ({ load }) => load)];
  return loads.flatMap(([load, cells]) => {
    const seriesOf = (yOf: (cell: OpenCell) => number): Series[] =>
      part.servers.flatMap(({ id, title }) =>
        [false, true].flatMap((hasDeadline): Series[] => {
          const own = cells.filter((cell) => cell.peer === id && cell.hasDeadline === hasDeadline);
          const points = own.map((cell) => ({ x: cell.offeredPerSecond, y: yOf(cell) })).sort((a, b) => a.x - b.x);
          return points.length === 0 ? [] : [{ name: hasDeadline ? `${title}, deadline of 200 ms` : title, points }];
        }),
      );
    const chart = (title: string, yLabel: string, yOf: (cell: OpenCell) => number): Chart => ({
      title: `${load}: ${title}`,
      xLabel: 'offered requests/s',
      yLabel,
      xScale: 'linear',
      yScale: title === 'p99 of answers' ? 'log' : 'linear',
      series: seriesOf(yOf),
    });
    return [
      chart('goodput', 'answers within 200 ms, per second', ({ goodPerSecond }) => goodPerSecond),
      chart('p99 of answers', 'p99, ms', ({ latency }) => latency.p99Ms),
      chart('p99 of refusals', 'p99, ms', ({ refusal }) => refusal.p99Ms),
      chart('share refused', 'share', ({ refusedShare }) => refusedShare),
    ];
  });
}

type SizePart = 'stateTokens' | 'questions';

export function scalingCharts({ points, servers }: ScalingPart): Chart[] {
  const along = (by: SizePart, [fixedBy, fixed]: readonly [SizePart, number]): Series[] =>
    servers.map(({ id, title: name }) => {
      const own = points.filter((point) => point.peer === id && point[fixedBy] === fixed);
      return { name, points: own.map((point) => ({ x: point[by], y: point.p50Ms })) };
    });
  const axes = { yLabel: 'p50, ms', xScale: 'linear', yScale: 'linear' } as const;
  const [tokens, questions] = [along('stateTokens', ['questions', 1]), along('questions', ['stateTokens', 512])];
  return [
    { ...axes, title: '1 question', xLabel: 'tokens of the document', series: tokens },
    { ...axes, title: '512 tokens', xLabel: 'questions of 4 options', series: questions },
  ];
}
