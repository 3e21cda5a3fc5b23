// Figures drawn with characters. Pure.

const LEVELS = '▁▂▃▄▅▆▇█';
const FULL = '█';
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** One character each, the largest the highest; a space where there is no figure. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(...values.filter((value) => !Number.isNaN(value)), Number.MIN_VALUE);
  return values
    .map((value) => (Number.isNaN(value) ? ' ' : (LEVELS[Math.min(7, Math.floor((value / most) * 8))] ?? ' ')))
    .join('');
}

/** A bar of so many cells for a share of 0 to 1. */
export function horizontalBar(share: number, cells: number): string {
  const eighths = Math.round(share * cells * 8);
  return FULL.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

export interface HistogramBin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Bins whose bounds grow by the same factor, for times that spread over orders of magnitude. @param sorted ascending */
export function logarithmicBins(sorted: readonly number[], bins: number): HistogramBin[] {
  const [least, most] = [Math.max(0.001, sorted[0] ?? 1), Math.max(0.002, sorted.at(-1) ?? 1)];
  const factor = Math.max(1.02, (most / least) ** (1 / bins));
  return Array.from({ length: bins }, (_, bin) => {
    const [from, to] = [least * factor ** bin, least * factor ** (bin + 1)];
    const isIn = (value: number): boolean => (value >= from || bin === 0) && (value < to || bin === bins - 1);
    return { from, to, count: sorted.filter(isIn).length };
  });
}
