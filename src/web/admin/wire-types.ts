// What the admin routes send, as far as this page shows it (docs/openapi.json has all of it).

export interface WirePage<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

export interface UsageTotals {
  readonly requests: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly cost_pico_usd: string;
}

export interface UsageSum extends UsageTotals {
  readonly key?: string;
  readonly model?: string;
  readonly end?: string;
  readonly start?: string;
}

export interface UsagePage extends WirePage<UsageSum> {
  readonly totals: UsageTotals;
}

export interface LatencyTimes {
  readonly model?: string;
  readonly start?: string;
  readonly requests: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
  readonly longest_ms: number;
}

export interface StatusFigures {
  readonly host: string;
  readonly process_id: number;
  readonly version: string;
  readonly started_at: string;
  readonly state: string;
  readonly requests_under_way: number;
  readonly engine: {
    readonly device: string;
    readonly workers: number;
    readonly busy_workers: number;
    readonly queued_jobs: number;
    readonly queued_cost_ms: number;
    readonly models: readonly LocalModel[];
  };
  readonly caches: {
    readonly state_tokens: number;
    readonly kept_tokens: number;
    readonly answers: { readonly run: number; readonly merged: number; readonly kept: number } | null;
  };
  readonly errors: readonly ErrorFigures[];
}

export interface LocalModel {
  readonly id: string;
  readonly state: 'not_loaded' | 'loading' | 'loaded' | 'failed';
  readonly reason?: string;
}

export interface LearnedModelFigures {
  readonly id: string;
  readonly state: 'served' | 'refused' | 'absent';
  readonly reason: string | null;
  readonly digest: string | null;
  readonly job: LearningFigures | null;
}

export interface LearningFigures {
  readonly state: 'running' | 'succeeded' | 'failed' | 'cancelled';
  readonly progress: { readonly step: string; readonly done: number; readonly total: number };
  readonly base: string | null;
  readonly rows: number;
  readonly started_at: string;
  readonly started_by: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** null in lists, and where it did not come so far. */
  readonly report: { readonly questions: readonly LearnedQuestionFigures[] } | null;
}

export interface LearnedQuestionFigures {
  readonly type: string;
  readonly asked: string;
  readonly verdict: 'learned' | 'no_gain' | 'too_few_rows' | 'one_option_only';
  readonly rows: number;
  readonly options: readonly { readonly hash: string }[];
  readonly zero_shot: LearnedMeasures | null;
  readonly learned: LearnedMeasures | null;
  readonly would_more_help: boolean | null;
}

interface LearnedMeasures {
  readonly accuracy: { readonly mean: number } | null;
}

export interface ErrorFigures {
  readonly code: string;
  readonly status: number;
  readonly since_start: number;
  readonly last_hour: number;
  readonly by_minute: readonly number[];
}

export interface KeyBudget {
  readonly amount_usd: string;
  readonly reset: 'none' | 'day' | 'month';
}

export type KeyLimitName = 'requests_per_minute' | 'tokens_per_minute' | 'concurrent_requests';

export interface WireKey {
  readonly id: string;
  readonly name: string;
  readonly visible_prefix: string;
  readonly state: 'active' | 'disabled' | 'expired' | 'revoked';
  readonly scopes: readonly ('inference' | 'admin')[];
  readonly models: readonly string[] | null;
  readonly budget: KeyBudget | null;
  readonly limits: Readonly<Record<KeyLimitName, number | null>>;
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

/** Of a key that was made or rotated: shown once. */
export interface WireSecret extends WireKey {
  readonly key: string;
  readonly previous_secrets_expire_at?: string;
}

export interface ShownStanding {
  readonly budget: {
    readonly amount_usd: string;
    readonly spent_usd: string;
    readonly reserved_usd: string;
    readonly remaining_usd: string;
    readonly resets_at: string | null;
  } | null;
  readonly limits: Readonly<Record<KeyLimitName, { readonly limit: number; readonly remaining: number } | null>>;
}

export interface PriceAmounts {
  readonly model: string;
  readonly input_usd: string;
  readonly cached_input_usd: string;
  readonly output_usd: string;
}

export interface ShownPrice extends PriceAmounts {
  readonly type: string;
  readonly source: 'set' | 'own';
  readonly effective_from: string | null;
}

export interface ShownDatedPrice extends PriceAmounts {
  readonly effective_from: string;
  readonly created_at: string;
  readonly created_by: string;
}

export interface EndedRow {
  readonly id: string;
  readonly request_id: string;
  readonly key: string;
  readonly model: string;
  readonly endpoint: string;
  readonly streamed: boolean;
  readonly accepted_at: string;
  readonly end: string;
  readonly status: number;
  readonly error_code: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: string;
  readonly duration_ms: number;
}

export interface FeedReply {
  readonly data: readonly EndedRow[];
  readonly next_cursor: string;
  readonly has_more: boolean;
  readonly has_gap: boolean;
}

export interface WireAudit {
  readonly id: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly details: Readonly<Record<string, unknown>>;
}
