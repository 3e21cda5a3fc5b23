// Summaries of measured samples. Pure.

export interface LatencySummary {
  readonly samples: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Nearest rank: the smallest sample that at least `fraction` of all samples do not exceed. NaN for no samples. */
export function percentile(samples: readonly number[], fraction: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(fraction * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

export function sum(samples: readonly number[]): number {
  return samples.reduce((total, sample) => total + sample, 0);
}

/** @param samplesMs `[n]`, milliseconds; of no samples every figure is NaN, which JSON prints as null */
export function summariseLatencies(samplesMs: readonly number[]): LatencySummary {
  return {
    samples: samplesMs.length,
    meanMs: sum(samplesMs) / samplesMs.length,
    p50Ms: percentile(samplesMs, 0.5),
    p95Ms: percentile(samplesMs, 0.95),
    p99Ms: percentile(samplesMs, 0.99),
    maxMs: percentile(samplesMs, 1),
  };
}
