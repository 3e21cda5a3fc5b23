// The options that say what a key may do, for `umpire keys create` and `keys update`. What is left out stays as it is.

import {
  type ApiKey,
  type Budget,
  type BudgetReset,
  byLimit,
  KEY_LIMITS,
  type KeyLimits,
  type KeyScope,
  LIMIT_NAMES,
} from '../domain/api-key.ts';
import { isPrintable } from '../domain/field-rules.ts';
import { KEY_RULES } from '../domain/key-rules.ts';
import { withoutAbsent } from '../domain/without-absent.ts';
import { parseCount, parseUsd } from './amounts.ts';
import { type CommandArguments, type CommandOption, UsageError } from './command.ts';
import { parseExpiry } from './times.ts';

const SCOPES: readonly KeyScope[] = ['inference', 'admin'];
const RESETS: readonly BudgetReset[] = ['none', 'day', 'month'];

const LIMIT_OPTIONS = Object.fromEntries(
  LIMIT_NAMES.map((name) => {
    const { option, help, example } = KEY_LIMITS[name];
    return [option, { type: 'string', help: `${help}, or none`, example: String(example) }];
  }),
) satisfies Record<string, CommandOption>;

export const KEY_OPTIONS: Readonly<Record<string, CommandOption>> = {
  name: { type: 'string', help: 'What the key is for', example: 'billing' },
  scope: {
    type: 'string',
    multiple: true,
    help: `${SCOPES.join(' or ')}; may be repeated`,
    example: 'inference',
    values: SCOPES,
  },
  model: {
    type: 'string',
    multiple: true,
    help: 'A model it may use, * for any text; may be repeated',
    example: "'gpt-*'",
    values: 'model',
  },
  models: {
    type: 'string',
    help: 'The same, with commas between them; all: every model',
    example: 'kev,text-embed-mini',
    values: 'model',
  },
  expires: { type: 'string', help: 'After 90m, 12h, 30d, 52w, at a date, or never', example: '30d' },
  budget: { type: 'string', help: 'Dollars it may spend, or none', example: '12.50' },
  reset: {
    type: 'string',
    help: 'When its budget starts anew, in UTC: none, day, month',
    example: 'month',
    values: RESETS,
  },
  ...LIMIT_OPTIONS,
};

/** What the options ask for; null: no limit. */
export interface KeyWish {
  readonly name?: string;
  readonly scopes?: readonly KeyScope[];
  readonly models?: readonly string[] | null;
  readonly expiresAtMs?: number | null;
  readonly budgetPicoUsd?: bigint | null;
  readonly reset?: BudgetReset;
  readonly limits?: Partial<KeyLimits>;
}

/** @throws UsageError */
export function readKeyWish({ options }: CommandArguments, nowMs: number): KeyWish {
  const text = (option: string): string | undefined => {
    const value = options[option];
    return typeof value === 'string' ? value : undefined;
  };
  const count = (option: string): number | null | undefined =>
    optional(text(option), (given) => parseCount(given, `--${option}`), 'none');
  return withoutAbsent({
    name: optional(text('name'), parseName),
    scopes: parseScopes(options['scope']),
    models: parseModels(options['model'], text('models')),
    expiresAtMs: optional(text('expires'), (given) => parseExpiry(given, nowMs), 'never'),
    budgetPicoUsd: optional(text('budget'), (given) => parseUsd(given, '--budget'), 'none'),
    reset: optional(text('reset'), parseReset),
    limits: orAbsent(withoutAbsent(byLimit((name) => count(KEY_LIMITS[name].option)))),
  });
}

/**
 * @param current the key's budget as it is
 * @returns undefined: stays. @throws UsageError when there is a reset but no amount
 */
export function budgetOf({ budgetPicoUsd, reset }: KeyWish, current: ApiKey['budget']): Budget | null | undefined {
  if (budgetPicoUsd === undefined && reset === undefined) return undefined;
  const amountPicoUsd = budgetPicoUsd === undefined ? current?.amountPicoUsd : budgetPicoUsd;
  if (amountPicoUsd !== null && amountPicoUsd !== undefined) {
    return { amountPicoUsd, reset: reset ?? current?.reset ?? 'none' };
  }
  if (reset !== undefined) throw new UsageError('--reset goes with a --budget in dollars.');
  return null;
}

/** @param lifted the word that takes the limit off */
function optional<Value>(given: string | undefined, parse: (given: string) => Value): Value | undefined;
function optional<Value>(
  given: string | undefined,
  parse: (given: string) => Value,
  lifted: string,
): Value | null | undefined;
function optional<Value>(
  given: string | undefined,
  parse: (given: string) => Value,
  lifted?: string,
): Value | null | undefined {
  if (given === undefined) return undefined;
  return given === lifted ? null : parse(given);
}

function parseName(name: string): string {
  if (name.trim() === '') throw new UsageError('--name is needed: what the key is for.');
  if (name.length > KEY_RULES.maxNameLength || !isPrintable(name)) {
    throw new UsageError(
      `--name takes at most ${KEY_RULES.maxNameLength} characters, none of them control characters.`,
    );
  }
  return name.trim();
}

function parseModels(repeated: unknown, listed: string | undefined): readonly string[] | null | undefined {
  const ids = [...toTexts(repeated), ...(listed?.split(',') ?? [])].map((id) => id.trim());
  if (ids.includes('')) throw new UsageError('--models takes model ids with commas between them, --model takes one.');
  if (ids.length === 0) return undefined;
  return ids.length === 1 && ids[0] === 'all' ? null : ids;
}

function parseScopes(given: unknown): readonly KeyScope[] | undefined {
  const scopes = toTexts(given).map((word) => findWord(word, SCOPES, '--scope'));
  return scopes.length === 0 ? undefined : [...new Set(scopes)];
}

function parseReset(given: string): BudgetReset {
  return findWord(given, RESETS, '--reset');
}

function findWord<Word extends string>(given: string, words: readonly Word[], option: string): Word {
  const word = words.find((known) => known === given);
  if (word === undefined) throw new UsageError(`${option} takes ${words.join(', ')}.`);
  return word;
}

function toTexts(given: unknown): string[] {
  return Array.isArray(given) ? given.map(String) : [];
}

function orAbsent<Members extends object>(members: Members): Members | undefined {
  return Object.keys(members).length === 0 ? undefined : members;
}
