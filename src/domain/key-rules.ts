// What the fields of a key may hold, for every way in: HTTP and the command line. Pure; what a key may do is not decided
// here.

import { type Budget, KEY_LIMITS, type KeyLimits, type KeyScope, LIMIT_NAMES } from './api-key.ts';
import { AppError } from './errors.ts';
import { isModelText, isPrintable, isTime, MODEL_RULE } from './field-rules.ts';

export const KEY_RULES = {
  maxNameLength: 200,
  maxModels: 1000,
  /** $1,000,000: sums of it stay far from the end of 64 bits. */
  maxBudgetPicoUsd: 10n ** 18n,
  maxLimit: 1_000_000_000,
  maxOverlapMs: 30 * 86_400_000,
  defaultOverlapMs: 86_400_000,
} as const;

/** Fields of a key as somebody asks for them; absent: not asked for. */
export interface KeyFields {
  readonly name?: string;
  readonly models?: readonly string[] | null;
  readonly scopes?: readonly KeyScope[];
  readonly budget?: Budget | null;
  readonly limits?: Partial<KeyLimits>;
  readonly expiresAtMs?: number | null;
}

/** @returns the fields with a trimmed name and every scope once. @throws AppError `invalid_request` */
export function checkKeyFields<Fields extends KeyFields>(fields: Fields, nowMs: number): Fields {
  const { name, models, scopes, budget, limits, expiresAtMs } = fields;
  if (models !== undefined && models !== null) checkModels(models);
  if (budget !== undefined && budget !== null) checkBudget(budget);
  if (limits !== undefined) checkLimits(limits);
  if (expiresAtMs !== undefined && expiresAtMs !== null) checkExpiry(expiresAtMs, nowMs);
  return {
    ...fields,
    ...(name === undefined ? {} : { name: parseName(name) }),
    ...(scopes === undefined ? {} : { scopes: parseScopes(scopes) }),
  };
}

/** @throws AppError `invalid_request` */
export function checkOverlap(overlapMs: number): void {
  if (Number.isSafeInteger(overlapMs) && overlapMs >= 0 && overlapMs <= KEY_RULES.maxOverlapMs) return;
  throw invalid('The overlap must be between 0 and 30 days.', 'overlap_seconds');
}

function parseName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw invalid('A key needs a name.', 'name');
  if (trimmed.length > KEY_RULES.maxNameLength || !isPrintable(trimmed)) {
    const message = `A name has at most ${KEY_RULES.maxNameLength} characters, none of them control characters.`;
    throw invalid(message, 'name');
  }
  return trimmed;
}

function parseScopes(scopes: readonly KeyScope[]): KeyScope[] {
  if (scopes.length === 0) throw invalid('A key needs at least one scope.', 'scopes');
  return [...new Set(scopes)];
}

function checkModels(models: readonly string[]): void {
  if (models.length > KEY_RULES.maxModels) {
    throw invalid(`A key names at most ${KEY_RULES.maxModels} models.`, 'models');
  }
  const wrong = models.findIndex((id) => !isModelText(id));
  if (wrong >= 0) throw invalid(MODEL_RULE, `models[${wrong}]`);
}

function checkBudget({ amountPicoUsd }: Budget): void {
  if (amountPicoUsd >= 0n && amountPicoUsd <= KEY_RULES.maxBudgetPicoUsd) return;
  throw invalid('A budget is at most 1,000,000 dollars.', 'budget.amount_usd');
}

function checkLimits(limits: Partial<KeyLimits>): void {
  for (const name of LIMIT_NAMES) {
    const limit = limits[name] ?? null;
    if (limit === null || (Number.isInteger(limit) && limit >= 1 && limit <= KEY_RULES.maxLimit)) continue;
    const message = `A limit is a whole number from 1 to ${KEY_RULES.maxLimit.toLocaleString('en-US')}.`;
    throw invalid(message, `limits.${KEY_LIMITS[name].field}`);
  }
}

function checkExpiry(expiresAtMs: number, nowMs: number): void {
  if (isTime(expiresAtMs) && expiresAtMs > nowMs) return;
  throw invalid('A key must expire in the future, before the year 10000.', 'expires_at');
}

function invalid(message: string, param: string): AppError {
  return new AppError('invalid_request', message, { param });
}
