// The reply of GET /ai/v1/usage: a usage report of one key, with its budget and limits as they stand now.

import { z } from 'zod';
import type { ApiKey } from '../../domain/api-key.ts';
import type { RateStanding } from '../../domain/ledger.ts';
import { formatUsd } from '../../domain/money.ts';
import type { KeyStanding } from '../../services/usage.ts';
import { instantReply, toInstant } from './instant.ts';
import { usdReply } from './money-field.ts';
import { reportShape } from './usage-report.ts';

const rate = z
  .object({
    limit: z.int(),
    remaining: z.int(),
    reset_ms: z.number().describe('Until all of it is free again, if nothing more is asked.'),
  })
  .nullable();

const standingShape = {
  budget: z
    .object({
      amount_usd: usdReply,
      reset: z.enum(['none', 'day', 'month']),
      spent_usd: usdReply.describe('Since the last reset.'),
      reserved_usd: usdReply.describe('For requests that are under way.'),
      remaining_usd: usdReply,
      resets_at: instantReply.nullable().describe('null: never.'),
    })
    .nullable()
    .describe('null: the key has none.'),
  limits: z
    .object({
      requests_per_minute: rate,
      tokens_per_minute: rate,
      concurrent_requests: z.object({ limit: z.int(), remaining: z.int() }).nullable(),
    })
    .describe('null: no limit.'),
};

export const ownUsageSchema = z
  .object({
    object: z.literal('usage'),
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
