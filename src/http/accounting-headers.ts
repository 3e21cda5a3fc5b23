// Money and limits as headers: what a reply cost, what the key has left. Also the replay of a reply that was kept for a
// retry.

import type { FastifyReply } from 'fastify';
import { KEY_LIMITS, LIMIT_NAMES } from '../domain/api-key.ts';
import type { Standing, StoredReply } from '../domain/ledger.ts';
import { formatUsd } from '../domain/money.ts';
import type { Receipt } from '../services/accounting/accounting.ts';

type Headers = Record<string, string>;

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

export function costHeaders(costPicoUsd: bigint): Headers {
  return { 'x-umpire-cost-usd': formatUsd(costPicoUsd) };
}

/** Nothing for what the key has no limit of. */
export function standingHeaders({ budget, ...limits }: Standing): Headers {
  const headers: Headers = {};
  if (budget !== null) headers['x-umpire-budget-remaining-usd'] = formatUsd(budget.remainingPicoUsd);
  for (const { counts } of LIMIT_NAMES.map((name) => KEY_LIMITS[name])) {
    const standing = limits[counts];
    if (standing === null) continue;
    const { limit, remaining, resetMs } = standing;
    headers[`x-ratelimit-limit-${counts}`] = String(limit);
    headers[`x-ratelimit-remaining-${counts}`] = String(remaining);
    if (resetMs !== undefined) headers[`x-ratelimit-reset-${counts}`] = formatReset(resetMs);
  }
  return headers;
}

export function receiptHeaders({ costPicoUsd, standing }: Receipt): Headers {
  return { ...costHeaders(costPicoUsd), ...standingHeaders(standing) };
}

/** The first reply again, as it was sent; nothing was run or billed for this one. */
export function sendReplay(reply: FastifyReply, kept: StoredReply): FastifyReply {
  return reply
    .headers({ ...kept.headers, 'idempotent-replayed': 'true' })
    .type(kept.contentType)
    .send(kept.body);
}

/** In the chat format's own style: `120ms`, `1s`, `8.64s`, `6m0s`, `1h0m0s`. Rounded up to the millisecond. */
export function formatReset(resetMs: number): string {
  const wholeMs = Math.max(0, Math.ceil(resetMs));
  if (wholeMs < SECOND_MS) return `${wholeMs}ms`;
  const hours = Math.floor(wholeMs / HOUR_MS);
  const minutes = Math.floor((wholeMs % HOUR_MS) / MINUTE_MS);
  const seconds = `${(wholeMs % MINUTE_MS) / SECOND_MS}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
