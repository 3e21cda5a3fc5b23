// How long everything of a comparison is measured: enough to quote, or a short form for development. Pure.

export type Effort = { readonly [Name in keyof typeof FULL]: Widened<(typeof FULL)[Name]> };
type Widened<T> = T extends readonly number[] ? readonly number[] : T extends number ? number : boolean;

const FULL = {
  rounds: 2,
  sliceMs: 1500,
  /** Of embeddings: there are five servers, and slices that would take longer are left out. */
  embeddingSliceMs: 1000,
  maxEmbeddingSliceMs: 10_000,
  concurrencies: [1, 2, 4, 8, 16, 32, 64],
  openRounds: 2,
  openSliceMs: 3000,
  /** Of what a server can take; others are asked at fewer. */
  openShares: [0.25, 0.5, 0.7, 0.9, 1, 1.25, 1.5, 2],
  openSharesOfOthers: [0.5, 0.7, 1, 1.5, 2],
  scalingPointMs: 400,
  hasScalingGrid: true,
  keptPairs: 40,
  shareRounds: 8,
  shareSamples: 20,
  bareRounds: 5,
  bareMs: 4000,
  memoryLoadMs: 5000,
};

/** Its figures are not for quoting. */
const QUICK: Effort = {
  rounds: 1,
  sliceMs: 600,
  embeddingSliceMs: 600,
  maxEmbeddingSliceMs: 3000,
  concurrencies: [1, 8],
  openRounds: 1,
  openSliceMs: 2000,
  openShares: [0.7, 1, 2],
  openSharesOfOthers: [0.7, 1, 2],
  scalingPointMs: 50,
  hasScalingGrid: false,
  keptPairs: 8,
  shareRounds: 3,
  shareSamples: 10,
  bareRounds: 2,
  bareMs: 1500,
  memoryLoadMs: 1500,
};

export interface EffortOptions {
  readonly isQuick: boolean;
  /** Instead of the usual number of every part that has rounds. */
  readonly rounds: number | undefined;
  readonly concurrencies: readonly number[] | undefined;
}

export function planEffort({ isQuick, rounds, concurrencies }: EffortOptions): Effort {
  const effort: Effort = isQuick ? QUICK : FULL;
  return {
    ...effort,
    ...(rounds === undefined ? {} : { rounds, openRounds: rounds, bareRounds: rounds }),
    ...(concurrencies === undefined ? {} : { concurrencies }),
  };
}
