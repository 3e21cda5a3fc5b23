// An API key as the server knows it after authentication. The secret itself exists only in the caller's hands.

export type KeyScope = 'inference' | 'admin';

export type BudgetReset = 'none' | 'day' | 'month';

export interface Budget {
  readonly amountPicoUsd: bigint;
  /** When spending counts from zero again: never, or at midnight UTC of each day or of each month's first. */
  readonly reset: BudgetReset;
}

/** null: no limit. */
export interface KeyLimits {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrentRequests: number | null;
}

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

export const NO_LIMITS: KeyLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null };

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
