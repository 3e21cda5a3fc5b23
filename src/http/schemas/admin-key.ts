// API keys on the wire of the admin routes: as they are shown, created, changed and rotated. What fields may hold is
// checked by the service; here are their shapes.

import { z } from 'zod';
import { type ApiKey, byLimit, byLimitField, KEY_LIMITS, type KeyState } from '../../domain/api-key.ts';
import { MAX_MODEL_LENGTH, PRINTABLE_PATTERN } from '../../domain/field-rules.ts';
import { toKeyJson } from '../../domain/key-json.ts';
import { KEY_RULES } from '../../domain/key-rules.ts';
import { withoutAbsent } from '../../domain/without-absent.ts';
import type { KeyPatch, NewApiKey } from '../../services/keys/keys.ts';
import { instantField, instantReply } from './instant.ts';
import { usdField, usdReply } from './money-field.ts';
import { listOf } from './paging.ts';
import { strictFields } from './strict-fields.ts';

const scope = z.enum(['inference', 'admin'], 'A scope is "inference" or "admin".');
const reset = z.enum(['none', 'day', 'month'], 'The field \'reset\' must be "none", "day" or "month".');
const limitReply = z.int().min(1).nullable();
const keyBudget = z
  .object({
    amount_usd: usdReply,
    reset: reset.describe('When spending counts from zero again, at midnight UTC.'),
  })
  .meta({ id: 'KeyBudget', description: 'What a key may spend.' });
const keyLimits = z
  .object(byLimitField((name) => limitReply.describe(`${KEY_LIMITS[name].meaning}; null: no limit.`)))
  .meta({ id: 'KeyLimits', description: 'How much a key may ask at a time.' });

export const keySchema = z
  .object({
    object: z.literal('api_key').describe('What this is.'),
    id: z.string().describe('Names the key where its secret must not stand.'),
    name: z.string().describe('For people; not unique.'),
    visible_prefix: z.string().describe('The first characters of the newest secret.'),
    state: z.enum(['active', 'disabled', 'expired', 'revoked']).describe('Only an active key is taken.'),
    scopes: z.array(scope).describe('What it may do: run models, administer, or both.'),
    models: z.array(z.string()).nullable().describe('Models it may use, `*` for any run of characters; null: all.'),
    budget: keyBudget.nullable().describe('null: none.'),
    limits: keyLimits,
    created_at: instantReply.describe('When it was made.'),
    created_by: z.string().describe('Id of a key, `command line`, or `server`.'),
    expires_at: instantReply.nullable().describe('From then on it is refused; null: never.'),
    disabled_at: instantReply.nullable().describe('Since when it is disabled; null: it is not.'),
    revoked_at: instantReply.nullable().describe('Since when it is revoked; null: it is not.'),
    last_used_at: instantReply.nullable().describe('Exact to about a minute; null: never.'),
  })
  .meta({ id: 'ApiKey', description: 'A key without its secret.' });

export const keyListSchema = listOf(keySchema, { id: 'ApiKeyList', description: 'Keys, oldest first.' });

const secret = z.string().describe('The secret. It is shown only now.');
export const createdKeySchema = keySchema
  .extend({ key: secret })
  .meta({ id: 'CreatedApiKey', description: 'A new key with its secret, which is shown only now.' });

export const rotatedKeySchema = keySchema
  .extend({
    key: secret,
    previous_secrets_expire_at: instantReply.describe('Until then the secrets before work too.'),
  })
  .meta({ id: 'RotatedApiKey', description: 'A key with its new secret, which is shown only now.' });

const name = z
  .string("The field 'name' must be a string.")
  .meta({ minLength: 1, maxLength: KEY_RULES.maxNameLength, pattern: PRINTABLE_PATTERN })
  .describe('For people; not unique. Blanks at its ends are dropped.');
const modelPattern = z
  .string('A model must be a string.')
  .meta({ minLength: 1, maxLength: MAX_MODEL_LENGTH, pattern: PRINTABLE_PATTERN });
const models = z
  .array(modelPattern, "The field 'models' must be an array of strings, or null for all.")
  .meta({ maxItems: KEY_RULES.maxModels })
  .nullable()
  .describe('Models it may use, `*` for any run of characters; null: all.');
const scopes = z
  .array(scope, 'The field \'scopes\' must be an array of "inference" and "admin".')
  .min(1, {
    message: 'A key needs at least one scope.',
  })
  .describe('What it may do: run models, administer, or both.');
const budget = strictFields('budget', {
  amount_usd: usdField('amount_usd').describe('US dollars, exact.'),
  reset: reset.default('none').describe('When spending counts from zero again, at midnight UTC.'),
})
  .meta({ id: 'NewKeyBudget', description: 'What a key may spend.' })
  .nullable()
  .describe('What it may spend; null: no end.');
const LIMIT = `A limit is a whole number from 1 to ${KEY_RULES.maxLimit.toLocaleString('en-US')}, or null for none.`;
const limit = z.int(LIMIT).min(1, LIMIT).max(KEY_RULES.maxLimit, LIMIT).nullable().optional();
const limits = strictFields(
  'limits',
  byLimitField((name) => limit.describe(`${KEY_LIMITS[name].meaning}; null: no limit.`)),
).meta({ id: 'NewKeyLimits', description: 'How much a key may ask at a time.' });
const expiresAt = instantField('expires_at').nullable().describe('From then on it is refused; null: never.');

export const newKeySchema = strictFields('body', {
  name,
  scopes: scopes.optional().describe('Default: `["inference"]`.'),
  models: models.optional(),
  budget: budget.optional(),
  limits: limits.optional(),
  expires_at: expiresAt.optional(),
}).meta({ id: 'NewApiKey', description: 'A key to make. What is left out is not limited.' });

export const newKeyExample = {
  name: 'billing service',
  scopes: ['inference'],
  models: ['kev', 'text-*'],
  budget: { amount_usd: '25.00', reset: 'month' },
  limits: byLimitField((name) => KEY_LIMITS[name].example),
  expires_at: null,
};

export const keyPatchSchema = strictFields('body', {
  name: name.optional(),
  scopes: scopes.optional(),
  models: models.optional(),
  budget: budget.optional().describe('null takes it off.'),
  limits: limits.optional().describe('Those that are named change; null takes one off.'),
  expires_at: expiresAt.optional(),
  disabled: z
    .boolean("The field 'disabled' must be true or false.")
    .optional()
    .describe('Whether it is refused until it is enabled again.'),
}).meta({ id: 'ApiKeyPatch', description: 'What to change. What is left out stays as it is.' });

export const keyPatchExample = { disabled: true };

const MAX_OVERLAP_SECONDS = KEY_RULES.maxOverlapMs / 1000;
const OVERLAP = `The field 'overlap_seconds' must be a whole number from 0 to ${MAX_OVERLAP_SECONDS.toLocaleString('en-US')}.`;
const rotationFields = strictFields('body', {
  overlap_seconds: z
    .int(OVERLAP)
    .min(0, OVERLAP)
    .max(MAX_OVERLAP_SECONDS, OVERLAP)
    .default(KEY_RULES.defaultOverlapMs / 1000)
    .describe('How long the secrets before still work.'),
});
/** A request without a body is one that leaves everything to us. */
export const rotationSchema = z
  .preprocess((body) => body ?? {}, rotationFields)
  .meta({ id: 'Rotation', description: 'How a secret gives way to the next.' });

export const rotationExample = { overlap_seconds: 3600 };

export function toWireKey(key: ApiKey, state: KeyState): z.output<typeof keySchema> {
  return { object: 'api_key', ...toKeyJson(key, state) };
}

export function toNewKey(body: z.output<typeof newKeySchema>): NewApiKey {
  return {
    models: null,
    expiresAtMs: null,
    ...toKeyPatch({ ...body, disabled: undefined }),
    name: body.name,
  };
}

export function toKeyPatch(body: z.output<typeof keyPatchSchema>): KeyPatch {
  const { name, scopes, models, budget, limits } = body;
  return withoutAbsent({
    name,
    scopes,
    models,
    budget: budget && { amountPicoUsd: budget.amount_usd, reset: budget.reset },
    limits: limits && withoutAbsent(byLimit((limit) => limits[KEY_LIMITS[limit].field])),
    expiresAtMs: body.expires_at,
    isDisabled: body.disabled,
  });
}
