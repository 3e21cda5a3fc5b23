// What reports are made of: which rows of the ledger, and by what they are summed.

export interface UsageFilter {
  /** Of acceptance; `fromMs` included, `toMs` not. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly keyId?: string;
  readonly modelId?: string;
  readonly endpoint?: string;
}

export type UsageDimension = 'key' | 'model' | 'endpoint' | 'end' | 'day' | 'hour';

/** Sums over rows; dimensions that were not asked for are absent. Days and hours are UTC. */
export interface UsageGroup {
  readonly keyId?: string;
  readonly modelId?: string;
  readonly endpoint?: string;
  readonly end?: string;
  /** Start of the day or hour. */
  readonly startMs?: number;
  readonly requests: number;
  readonly inputTokens: bigint;
  readonly cachedTokens: bigint;
  readonly outputTokens: bigint;
  readonly reasoningTokens: bigint;
  readonly costPicoUsd: bigint;
}
