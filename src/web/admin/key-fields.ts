// What can be set of a key, as the form holds it, and as the server takes it.

import type { KeyLimitName, WireKey } from './wire-types.ts';

export interface KeyFormFields {
  readonly name: string;
  readonly isInference: boolean;
  readonly isAdmin: boolean;
  /** One a line; empty: all. */
  readonly models: string;
  /** Dollars; empty: none. */
  readonly budget: string;
  readonly reset: 'none' | 'day' | 'month';
  /** Empty: none. */
  readonly limits: Readonly<Record<KeyLimitName, string>>;
  /** As `<input type="datetime-local">` has it; empty: never. */
  readonly expires: string;
}

export const LIMIT_LABELS: readonly (readonly [name: KeyLimitName, label: string])[] = [
  ['requests_per_minute', 'Requests a minute'],
  ['tokens_per_minute', 'Tokens a minute'],
  ['concurrent_requests', 'Requests at a time'],
];

export const EMPTY_KEY_FIELDS: KeyFormFields = {
  name: '',
  isInference: true,
  isAdmin: false,
  models: '',
  budget: '',
  reset: 'month',
  limits: { requests_per_minute: '', tokens_per_minute: '', concurrent_requests: '' },
  expires: '',
};

export function fieldsOf(key: WireKey): KeyFormFields {
  const limit = (name: KeyLimitName): string => String(key.limits[name] ?? '');
  return {
    name: key.name,
    isInference: key.scopes.includes('inference'),
    isAdmin: key.scopes.includes('admin'),
    models: key.models?.join('\n') ?? '',
    budget: key.budget?.amount_usd ?? '',
    reset: key.budget?.reset ?? 'month',
    limits: {
      requests_per_minute: limit('requests_per_minute'),
      tokens_per_minute: limit('tokens_per_minute'),
      concurrent_requests: limit('concurrent_requests'),
    },
    expires: key.expires_at === null ? '' : toLocalMoment(key.expires_at),
  };
}

/** The body that makes a key. */
export function newKeyOf(fields: KeyFormFields): object {
  return keyMembersOf(fields);
}

/** The body that changes one: only what is other than before. */
export function changeOf(before: KeyFormFields, after: KeyFormFields): object {
  const [old, wanted] = [keyMembersOf(before), keyMembersOf(after)];
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name as keyof typeof old]),
    ),
  );
}

function keyMembersOf(fields: KeyFormFields) {
  const models = fields.models.split(/[\n,]/).map((model) => model.trim());
  const named = models.filter((model) => model !== '');
  return {
    name: fields.name,
    scopes: [...(fields.isInference ? ['inference'] : []), ...(fields.isAdmin ? ['admin'] : [])],
    models: named.length === 0 ? null : named,
    budget: fields.budget.trim() === '' ? null : { amount_usd: fields.budget.trim(), reset: fields.reset },
    limits: Object.fromEntries(LIMIT_LABELS.map(([name]) => [name, limitOf(fields.limits[name])])),
    expires_at: fields.expires === '' ? null : new Date(fields.expires).toISOString(),
  };
}

/** What is no number is sent as it is: the server says what is wrong with it. */
function limitOf(text: string): number | string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed);
}

function toLocalMoment(instant: string): string {
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
