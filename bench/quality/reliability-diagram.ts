// A reliability diagram as SVG: accuracy over confidence, and below how many answers each bin has. Pure.

import type { ReliabilityBin } from '../../src/quality/figures.ts';
import { drawSvg, round, text } from '../pages/svg.ts';

const PLOT = { left: 60, top: 50, size: 400 };
const BARS = { top: PLOT.top + PLOT.size + 20, height: 80 };
const SIZE = { width: PLOT.left + PLOT.size + 30, height: BARS.top + BARS.height + 50 };
const SERIES = { manifest: '#1f5fa8', crossFitted: '#c2571a' } as const;

export interface Reliability {
  readonly manifest: readonly ReliabilityBin[];
  readonly crossFitted: readonly ReliabilityBin[];
}

export function drawReliability(modelId: string, { manifest, crossFitted }: Reliability): string {
  return drawSvg({ ...SIZE, title: `Reliability of ${modelId}`, fontSize: 12 }, [
    write(PLOT.left, 22, `Accuracy over confidence, ${modelId}, all held-out questions`),
    ...legend(),
    ...axes(),
    ...bars(manifest),
    ...series(crossFitted, SERIES.crossFitted),
    ...series(manifest, SERIES.manifest),
  ]);
}

function legend(): string[] {
  return [
    `<circle cx="${PLOT.left + 6}" cy="36" r="4" fill="${SERIES.manifest}"/>`,
    write(PLOT.left + 15, 40, "the manifest's temperatures"),
    `<circle cx="${PLOT.left + 196}" cy="36" r="4" fill="${SERIES.crossFitted}"/>`,
    write(PLOT.left + 205, 40, 'temperatures fitted without the task'),
  ];
}

function axes(): string[] {
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1].flatMap((value) => [
    `<line x1="${x(value)}" y1="${y(0)}" x2="${x(value)}" y2="${y(1)}" stroke="#e4e4e4"/>`,
    `<line x1="${x(0)}" y1="${y(value)}" x2="${x(1)}" y2="${y(value)}" stroke="#e4e4e4"/>`,
    write(PLOT.left - 8, y(value) + 4, value.toFixed(1), 'end'),
    write(x(value), BARS.top + BARS.height + 18, value.toFixed(1), 'middle'),
  ]);
  return [
    ...ticks,
    `<line x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}" stroke="#888888" stroke-dasharray="4 4"/>`,
    `<rect x="${PLOT.left}" y="${PLOT.top}" width="${PLOT.size}" height="${PLOT.size}" fill="none" stroke="#444444"/>`,
    write(x(0.5), SIZE.height - 12, 'confidence (probability of the top option)', 'middle'),
  ];
}

/** Heights are shares of all answers, against the fullest bin. */
function bars(bins: readonly ReliabilityBin[]): string[] {
  const most = Math.max(1, ...bins.map(({ count }) => count));
  return bins
    .filter(({ count }) => count > 0)
    .flatMap(({ low, high, count }) => {
      const height = (BARS.height - 14) * (count / most);
      const top = BARS.top + BARS.height - height;
      const width = x(high) - x(low) - 2;
      return [
        `<rect x="${round(x(low) + 1)}" y="${round(top)}" width="${round(width)}" height="${round(height)}" fill="#9bb7d4"/>`,
        write(x((low + high) / 2), round(top) - 3, String(count), 'middle', 9),
      ];
    });
}

function series(bins: readonly ReliabilityBin[], colour: string): string[] {
  const filled = bins.filter(({ count }) => count > 0);
  const points = filled.map(({ confidence, accuracy }) => `${round(x(confidence))},${round(y(accuracy))}`);
  const dots = points.map((point) => {
    const [cx, cy] = point.split(',');
    return `<circle cx="${cx}" cy="${cy}" r="4" fill="${colour}"/>`;
  });
  return [`<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>`, ...dots];
}

function x(confidence: number): number {
  return PLOT.left + PLOT.size * confidence;
}

function y(accuracy: number): number {
  return PLOT.top + PLOT.size * (1 - accuracy);
}

function write(at: number, baseline: number, words: string, anchor: 'start' | 'middle' | 'end' = 'start', size = 12) {
  return text({ x: at, y: baseline, words, anchor, size });
}
