// The reply of GET /ai/v1/usage: a usage report of one key, with its budget and limits as they stand now.

import { z } from 'zod';
import type { KeyStanding } from '../../domain/account.ts';
import type { ApiKey } from '../../domain/api-key.ts';
import type { RateStanding } from '../../domain/ledger.ts';
import { formatUsd } from '../../domain/money.ts';
import { instantReply, toInstant } from './instant.ts';
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
  .meta({ id: 'RateStanding', description: 'Where a limit per minute stands.' })
  .nullable();

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

const limitStanding = z
  .object({
    requests_per_minute: rate.describe('null: no limit.'),
    tokens_per_minute: rate.describe('null: no limit.'),
    concurrent_requests: z
      .object({ limit, remaining })
      .meta({ id: 'ConcurrencyStanding', description: 'How many requests may be under way at a time.' })
      .nullable()
      .describe('null: no limit.'),
  })
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

type WireStanding = Pick<z.output<typeof ownUsageSchema>, 'budget' | 'limits'>;

export function toWireStanding(key: ApiKey, { standing, spentPicoUsd, reservedPicoUsd }: KeyStanding): WireStanding {
  const { budget, requests, tokens, concurrent } = standing;
  return {
    budget:
      budget === null
        ? null
        : {
            amount_usd: formatUsd(budget.amountPicoUsd),
            reset: key.budget?.reset ?? 'none',
            spent_usd: formatUsd(spentPicoUsd),
            reserved_usd: formatUsd(reservedPicoUsd),
            remaining_usd: formatUsd(budget.remainingPicoUsd),
            resets_at: toInstant(budget.resetsAtMs),
          },
    limits: {
      requests_per_minute: toWireRate(requests),
      tokens_per_minute: toWireRate(tokens),
      concurrent_requests: concurrent === null ? null : { ...concurrent },
    },
  };
}

function toWireRate(standing: RateStanding | null): z.output<typeof rate> {
  return standing === null
    ? null
    : { limit: standing.limit, remaining: standing.remaining, reset_ms: standing.resetMs };
}
