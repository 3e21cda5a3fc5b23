// What reports are made of: which rows of the ledger, and by what they are summed.

export interface UsageFilter {
  /** Of acceptance; `fromMs` included, `toMs` not. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly keyId?: string;
  readonly modelId?: string;
  readonly endpoint?: string;
}

export type UsageDimension = 'key' | 'model' | 'endpoint' | 'end' | 'day' | 'hour' | 'minute';

/** A report is by one of them at most. */
export const TIME_DIMENSIONS = ['day', 'hour', 'minute'] as const satisfies readonly UsageDimension[];

/** What a group is of; dimensions that were not asked for are absent. Days, hours and minutes are UTC. */
export interface UsageGroupNames {
  readonly keyId?: string;
  readonly modelId?: string;
  readonly endpoint?: string;
  readonly end?: string;
  /** Start of the day, hour or minute. */
  readonly startMs?: number;
}

/** Sums over rows. */
export interface UsageGroup extends UsageGroupNames {
  readonly requests: number;
  readonly inputTokens: bigint;
  readonly cachedTokens: bigint;
  readonly outputTokens: bigint;
  readonly reasoningTokens: bigint;
  readonly costPicoUsd: bigint;
}

/** `duration`: from acceptance to the end; `wait`: until work began, or the first byte of an upstream came. */
export type LatencyMeasure = 'duration' | 'wait';

export interface LatencyQuery {
  readonly filter: UsageFilter;
  readonly by: readonly UsageDimension[];
  readonly measure: LatencyMeasure;
}

/** Times of completed requests, rounded down to three digits; the longest is exact. */
export interface LatencyGroup extends UsageGroupNames {
  /** At least one. */
  readonly requests: number;
  /** The shortest time that half of the requests kept to; the others alike. */
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
}

/** A place in the order in which requests ended. */
export interface EndedPlace {
  readonly endedAtMs: number;
  readonly id: string;
}
