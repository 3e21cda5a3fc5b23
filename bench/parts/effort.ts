// How long everything is measured: enough to quote, or a short form for development. Pure.

export interface Effort {
  readonly rounds: number;
  readonly sliceMs: number;
  /** Closed loops of embeddings: there are five servers, and slices that would take longer are left out. */
  readonly embeddingSliceMs: number;
  readonly maxEmbeddingSliceMs: number;
  readonly concurrencies: readonly number[];
  readonly openRounds: number;
  readonly openSliceMs: number;
  /** Of what a server can take; others are asked at fewer. */
  readonly openShares: readonly number[];
  readonly openSharesOfOthers: readonly number[];
  readonly scalingPointMs: number;
  readonly hasScalingGrid: boolean;
  readonly keptPairs: number;
  readonly shareRounds: number;
  readonly shareSamples: number;
  readonly bareRounds: number;
  readonly bareMs: number;
  readonly memoryLoadMs: number;
}

const FULL: Effort = {
  rounds: 2,
  sliceMs: 1500,
  embeddingSliceMs: 1000,
  maxEmbeddingSliceMs: 10_000,
  concurrencies: [1, 2, 4, 8, 16, 32, 64],
  openRounds: 2,
  openSliceMs: 3000,
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

/** @param rounds instead of the usual number of every part that has rounds */
export function planEffort(isQuick: boolean, rounds: number | undefined): Effort {
  const effort = isQuick ? QUICK : FULL;
  return rounds === undefined ? effort : { ...effort, rounds, openRounds: rounds, bareRounds: rounds };
}
