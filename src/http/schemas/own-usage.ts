// The reply of GET /ai/v1/usage: a usage report of one key, with its budget and limits as they stand now; and the latter as
// an administrator asks for them.

import { z } from 'zod';
import type { KeyStanding } from '../../domain/account.ts';
import { type ApiKey, byLimitField, KEY_LIMITS } from '../../domain/api-key.ts';
import { toBudgetStandingJson } from '../../domain/key-json.ts';
import type { LimitStanding } from '../../domain/ledger.ts';
import { instantReply } from './instant.ts';
import { usdReply } from './money-field.ts';
import { reportShape } from './usage-report.ts';

const limit = z.int().min(1).describe('How many there may be.');
const remaining = z.int().min(0).describe('How many are left now.');
const rate = z
  .object({
    limit,
    remaining,
    reset_ms: z.number().describe('Until all of it is free again, if nothing more is asked.'),
  })
  .meta({ id: 'RateStanding', description: 'Where a limit per minute stands.' });

const budgetStanding = z
  .object({
    amount_usd: usdReply,
    reset: z.enum(['none', 'day', 'month']).describe('When spending counts from zero again, at midnight UTC.'),
    spent_usd: usdReply.describe('Since the last reset.'),
    reserved_usd: usdReply.describe('For requests that are under way.'),
    remaining_usd: usdReply.describe('What may still be spent.'),
    resets_at: instantReply.nullable().describe('null: never.'),
  })
  .meta({ id: 'BudgetStanding', description: 'Where the budget of a key stands.' });

const concurrency = z
  .object({ limit, remaining })
  .meta({ id: 'ConcurrencyStanding', description: 'How many requests may be under way at a time.' });

const limitStanding = z
  .object(
    byLimitField((name) => (KEY_LIMITS[name].isPerMinute ? rate : concurrency).nullable().describe('null: no limit.')),
  )
  .meta({ id: 'LimitStanding', description: 'Where the limits of a key stand.' });

const standingShape = {
  budget: budgetStanding.nullable().describe('null: the key has none.'),
  limits: limitStanding,
};

export const ownUsageSchema = z
  .object({
    object: z.literal('usage').describe('What this is.'),
    key: z.string().describe('Id of the calling key.'),
    ...reportShape,
    ...standingShape,
  })
  .meta({ id: 'Usage', description: 'What the calling key used, and where it stands.' });

export const keyStandingSchema = z
  .object({
    object: z.literal('key_standing').describe('What this is.'),
    key: z.string().describe('Id of the key.'),
    ...standingShape,
  })
  .meta({ id: 'KeyStanding', description: 'Where a key stands.' });

type WireStanding = Pick<z.output<typeof ownUsageSchema>, 'budget' | 'limits'>;

export function toWireStanding(key: ApiKey, keyStanding: KeyStanding): WireStanding {
  const { standing } = keyStanding;
  return {
    budget: toBudgetStandingJson(key, keyStanding),
    limits: byLimitField((name) => toWireLimit(standing[KEY_LIMITS[name].counts])),
  };
}

function toWireLimit(standing: LimitStanding | null): z.output<typeof rate | typeof concurrency> | null {
  if (standing === null) return null;
  const { resetMs, ...counts } = standing;
  return resetMs === undefined ? counts : { ...counts, reset_ms: resetMs };
}
