// A reliability diagram as SVG: accuracy over confidence, and below how many answers each bin has. Pure.

import type { ReliabilityBin } from '../../src/quality/figures.ts';

const PLOT = { left: 60, top: 50, size: 400 };
const BARS = { top: PLOT.top + PLOT.size + 20, height: 80 };
const SIZE = { width: PLOT.left + PLOT.size + 30, height: BARS.top + BARS.height + 50 };
const SERIES = { manifest: '#1f5fa8', crossFitted: '#c2571a' } as const;

export interface Reliability {
  readonly manifest: readonly ReliabilityBin[];
  readonly crossFitted: readonly ReliabilityBin[];
}

export function drawReliability(modelId: string, { manifest, crossFitted }: Reliability): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" font-family="sans-serif" font-size="12">`,
    `<title>Reliability of ${escapeXml(modelId)}</title>`,
    `<rect width="${SIZE.width}" height="${SIZE.height}" fill="#ffffff"/>`,
    text(PLOT.left, 22, `Accuracy over confidence, ${modelId}, all held-out questions`, 'start'),
    ...legend(),
    ...axes(),
    ...bars(manifest),
    ...series(crossFitted, SERIES.crossFitted),
    ...series(manifest, SERIES.manifest),
    '</svg>',
    '',
  ].join('\n');
}

function legend(): string[] {
  return [
    `<circle cx="${PLOT.left + 6}" cy="36" r="4" fill="${SERIES.manifest}"/>`,
    text(PLOT.left + 15, 40, "the manifest's temperatures", 'start'),
    `<circle cx="${PLOT.left + 196}" cy="36" r="4" fill="${SERIES.crossFitted}"/>`,
    text(PLOT.left + 205, 40, 'temperatures fitted without the task', 'start'),
  ];
}

function axes(): string[] {
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1].flatMap((value) => [
    `<line x1="${x(value)}" y1="${y(0)}" x2="${x(value)}" y2="${y(1)}" stroke="#e4e4e4"/>`,
    `<line x1="${x(0)}" y1="${y(value)}" x2="${x(1)}" y2="${y(value)}" stroke="#e4e4e4"/>`,
    text(PLOT.left - 8, y(value) + 4, value.toFixed(1), 'end'),
    text(x(value), BARS.top + BARS.height + 18, value.toFixed(1), 'middle'),
  ]);
  return [
    ...ticks,
    `<line x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}" stroke="#888888" stroke-dasharray="4 4"/>`,
    `<rect x="${PLOT.left}" y="${PLOT.top}" width="${PLOT.size}" height="${PLOT.size}" fill="none" stroke="#444444"/>`,
    text(x(0.5), SIZE.height - 12, 'confidence (probability of the top option)', 'middle'),
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
        text(x((low + high) / 2), round(top) - 3, String(count), 'middle', 9),
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

function text(at: number, baseline: number, words: string, anchor: 'start' | 'middle' | 'end', size = 12): string {
  return `<text x="${round(at)}" y="${round(baseline)}" text-anchor="${anchor}" font-size="${size}" fill="#222222">${escapeXml(words)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
