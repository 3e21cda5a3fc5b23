// How long everything of a comparison is measured: enough to quote, or a short form for development. Pure.

/** Each in full, and in a short form whose figures are not for quoting. */
const EFFORTS = {
  rounds: [2, 1],
  sliceMs: [1500, 600],
  /** Of embeddings: there are five servers, and slices that would take longer are left out. */
  embeddingSliceMs: [1000, 600],
  maxEmbeddingSliceMs: [10_000, 3000],
  openRounds: [2, 1],
  openSliceMs: [3000, 2000],
  scalingPointMs: [400, 50],
  keptPairs: [40, 8],
  shareRounds: [8, 3],
  shareSamples: [20, 10],
  bareRounds: [5, 2],
  bareMs: [4000, 1500],
  memoryLoadMs: [5000, 1500],
} as const;

export interface Effort extends Readonly<Record<keyof typeof EFFORTS, number>> {
  readonly concurrencies: readonly number[];
  /** Of what a server can take; others are asked at fewer. */
  readonly openShares: readonly number[];
  readonly openSharesOfOthers: readonly number[];
  readonly hasScalingGrid: boolean;
}

export interface EffortOptions {
  readonly isQuick: boolean;
  /** Instead of the usual number of every part that has rounds. */
  readonly rounds: number | undefined;
  readonly concurrencies: readonly number[] | undefined;
}

export function planEffort({ isQuick, rounds, concurrencies }: EffortOptions): Effort {
  const column = isQuick ? 1 : 0;
  const numbers = Object.fromEntries(Object.entries(EFFORTS).map(([name, pair]) => [name, pair[column]]));
  return {
    ...(numbers as Record<keyof typeof EFFORTS, number>),
    ...(rounds === undefined ? {} : { rounds, openRounds: rounds, bareRounds: rounds }),
    concurrencies: concurrencies ?? (isQuick ? [1, 8] : [1, 2, 4, 8, 16, 32, 64]),
    openShares: isQuick ? [0.7, 1, 2] : [0.25, 0.5, 0.7, 0.9, 1, 1.25, 1.5, 2],
    openSharesOfOthers: isQuick ? [0.7, 1, 2] : [0.5, 0.7, 1, 1.5, 2],
    hasScalingGrid: !isQuick,
  };
}
