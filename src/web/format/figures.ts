// Figures as people read them.

/** `93.1 %`; never 100 or 0 for what is not certain. */
export function formatPercent(share: number): string {
  const percent = share * 100;
  if (percent > 99.9 && percent < 100) return '> 99.9 %';
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  return `${percent.toFixed(1)} %`;
}

/** `0.6 ms`, `42 ms`, `1.3 s` */
export function formatDuration(durationMs: number): string {
  if (durationMs >= 1000) return `${(durationMs / 1000).toFixed(1)} s`;
  return `${durationMs >= 10 ? durationMs.toFixed(0) : durationMs.toFixed(1)} ms`;
}

/** `$0.000002`: of small amounts two digits that count, of others cents. */
export function formatDollars(dollars: number): string {
  if (dollars === 0) return '$0';
  if (dollars >= 1) return `$${dollars.toFixed(2)}`;
  const places = Math.min(12, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toFixed(places)}`;
}

/** `5,000` */
export function formatNumber(count: number): string {
  return count.toLocaleString('en-US');
}
