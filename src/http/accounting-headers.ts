// Money and limits as headers: what a reply cost, what the key has left. Also the replay of a reply that was kept for a
// retry.

import type { FastifyReply } from 'fastify';
import type { RateStanding, Standing, StoredReply } from '../domain/ledger.ts';
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
export function standingHeaders({ budget, requests, tokens, concurrent }: Standing): Headers {
  const headers: Headers = {};
  if (budget !== null) headers['x-umpire-budget-remaining-usd'] = formatUsd(budget.remainingPicoUsd);
  if (requests !== null) addRate(headers, 'requests', requests);
  if (tokens !== null) addRate(headers, 'tokens', tokens);
  if (concurrent !== null) {
    headers['x-ratelimit-limit-concurrent'] = String(concurrent.limit);
    headers['x-ratelimit-remaining-concurrent'] = String(concurrent.remaining);
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

function addRate(headers: Headers, what: 'requests' | 'tokens', { limit, remaining, resetMs }: RateStanding): void {
  headers[`x-ratelimit-limit-${what}`] = String(limit);
  headers[`x-ratelimit-remaining-${what}`] = String(remaining);
  headers[`x-ratelimit-reset-${what}`] = formatReset(resetMs);
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
