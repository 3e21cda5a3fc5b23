// An API key as the server knows it after authentication, and every limit it can have. The secret itself exists only in
// the caller's hands.

export type KeyScope = 'inference' | 'admin';

export type BudgetReset = 'none' | 'day' | 'month';

export interface Budget {
  readonly amountPicoUsd: bigint;
  /** When spending counts from zero again: never, or at midnight UTC of each day or of each month's first. */
  readonly reset: BudgetReset;
}

interface LimitDescription {
  /** Its name on the wire, in the audit trail, and as a column of the store. */
  readonly field: string;
  /** On the command line, without its dashes. */
  readonly option: string;
  /** What it counts: its name in a standing, in the headers, and as the reason of a refusal. */
  readonly counts: string;
  readonly isPerMinute: boolean;
  readonly example: number;
  /** Before its number, in a list for people. */
  readonly label: string;
  /** For the documents of the wire. */
  readonly meaning: string;
  /** For the command line. */
  readonly help: string;
  /** To whom it refuses. @param asked what the request may use, and what is left */
  readonly refusal: (limit: number, asked: { readonly tokens: number; readonly left: number }) => string;
}

/**
 * Every limit that a key can have. Options, schemas, columns, headers and words follow from here; how one is counted, and
 * when it refuses, is account.ts's, and the column of a new one is made by a step of the store's migrations.
 */
export const KEY_LIMITS = {
  requestsPerMinute: {
    field: 'requests_per_minute',
    option: 'requests-per-minute',
    counts: 'requests',
    isPerMinute: true,
    example: 600,
    label: 'requests a minute',
    meaning: 'Requests it may begin in a minute of the clock',
    help: 'Requests in a minute of the clock (in 60 seconds across two: up to twice as many)',
    refusal: (limit) => `This key may make ${limit} requests a minute.`,
  },
  tokensPerMinute: {
    field: 'tokens_per_minute',
    option: 'tokens-per-minute',
    counts: 'tokens',
    isPerMinute: true,
    example: 1_000_000,
    label: 'tokens a minute',
    meaning: 'Tokens it may use in a minute of the clock',
    help: 'Tokens in a minute of the clock, counted the same way',
    refusal: (limit, { tokens, left }) =>
      `This request may use ${tokens} tokens; this key may use ${limit} a minute, and ${left} are left.`,
  },
  concurrentRequests: {
    field: 'concurrent_requests',
    option: 'concurrent',
    counts: 'concurrent',
    isPerMinute: false,
    example: 16,
    label: 'requests at a time',
    meaning: 'Requests it may have under way at a time',
    help: 'Requests at a time',
    refusal: (limit) => `This key may have ${limit} requests running at a time.`,
  },
} as const satisfies Record<string, LimitDescription>;

export type LimitName = keyof typeof KEY_LIMITS;
export type LimitField = (typeof KEY_LIMITS)[LimitName]['field'];
/** What a limit counts. */
export type LimitCount = (typeof KEY_LIMITS)[LimitName]['counts'];

export const LIMIT_NAMES = Object.keys(KEY_LIMITS) as readonly LimitName[];

/** null: no limit. */
export type KeyLimits = Readonly<Record<LimitName, number | null>>;

/** One value for each limit, by its name. */
export function byLimit<Value>(ask: (name: LimitName) => Value): Record<LimitName, Value> {
  return Object.fromEntries(LIMIT_NAMES.map((name) => [name, ask(name)])) as Record<LimitName, Value>;
}

/** The same by its field on the wire. */
export function byLimitField<Value>(ask: (name: LimitName) => Value): Record<LimitField, Value> {
  const fields = LIMIT_NAMES.map((name) => [KEY_LIMITS[name].field, ask(name)]);
  return Object.fromEntries(fields) as Record<LimitField, Value>;
}

/** The same by what it counts. */
export function byLimitCount<Value>(ask: (name: LimitName) => Value): Record<LimitCount, Value> {
  const counts = LIMIT_NAMES.map((name) => [KEY_LIMITS[name].counts, ask(name)]);
  return Object.fromEntries(counts) as Record<LimitCount, Value>;
}

export const NO_LIMITS: KeyLimits = byLimit(() => null);

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** First characters of the newest secret, safe to show: `ump_Ab3d`. */
  readonly visiblePrefix: string;
  /** Model ids the key may use, `*` standing for any run of characters; null: all. */
  readonly models: readonly string[] | null;
  readonly scopes: readonly KeyScope[];
  readonly budget: Budget | null;
  readonly limits: KeyLimits;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  /** Id of the key that made it, or `command line`, or `server`. */
  readonly createdBy: string;
  readonly expiresAtMs: number | null;
  /** Refused until it is enabled again. */
  readonly disabledAtMs: number | null;
  /** Refused for good. */
  readonly revokedAtMs: number | null;
  /** Of an accepted request; null: never used. */
  readonly lastUsedAtMs: number | null;
}

/** A key with every model, and without budget, limits or end, but for what is given. */
export function unrestrictedKey(parts: Pick<ApiKey, 'id' | 'name'> & Partial<ApiKey>): ApiKey {
  return {
    visiblePrefix: 'ump_',
    models: null,
    scopes: ['inference'],
    budget: null,
    limits: NO_LIMITS,
    createdAtMs: 0,
    createdBy: 'server',
    expiresAtMs: null,
    disabledAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    ...parts,
  };
}

export type KeyState = 'active' | 'disabled' | 'expired' | 'revoked';

export function keyStateOf(key: ApiKey, nowMs: number): KeyState {
  if (key.revokedAtMs !== null) return 'revoked';
  if (isOver(key.expiresAtMs, nowMs)) return 'expired';
  return key.disabledAtMs === null ? 'active' : 'disabled';
}

export function isOver(endsAtMs: number | null, nowMs: number): boolean {
  return endsAtMs !== null && endsAtMs <= nowMs;
}

export function mayUseModel(key: ApiKey, modelId: string): boolean {
  return key.models === null || key.models.some((pattern) => matchesPattern(pattern, modelId));
}

/** Linear in both: the parts between the stars are looked for one after the other, each at its first place. */
function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let from = first.length;
  const end = text.length - last.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
