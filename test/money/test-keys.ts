// API keys put straight into a store, with whatever budget and limits a test needs.

import { createSecret, hashSecret, visiblePrefixOf } from '../../src/services/key-secret.ts';
import { testLogs } from '../log-scan/test-logs.ts';
import type { MoneyStore } from './money-store.ts';

export interface KeyTerms {
  readonly id: string;
  readonly budgetPicoUsd?: bigint;
  readonly budgetReset?: 'none' | 'day' | 'month';
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly concurrentRequests?: number;
}

/** @returns the secret */
export async function insertKey(store: MoneyStore, terms: KeyTerms): Promise<string> {
  const secret = createSecret();
  testLogs.keepSecret(secret);
  const nowMs = Date.now();
  const budget =
    terms.budgetPicoUsd === undefined ? 'NULL, NULL' : `'${terms.budgetPicoUsd}', '${terms.budgetReset ?? 'none'}'`;
  const limits = [terms.requestsPerMinute, terms.tokensPerMinute, terms.concurrentRequests].map(
    (limit) => limit ?? 'NULL',
  );
  const prefix = visiblePrefixOf(secret);
  await store.query(`INSERT INTO api_keys (id, name, visible_prefix, models, scopes, created_at_ms, created_by,
    budget_pico_usd, budget_reset, requests_per_minute, tokens_per_minute, concurrent_requests)
    VALUES ('${terms.id}', 'test', '${prefix}', NULL, '["inference"]', ${nowMs}, 'server', ${budget}, ${limits.join(', ')})`);
  await store.query(`INSERT INTO api_key_secrets (hash, key_id, visible_prefix, created_at_ms, expires_at_ms)
    VALUES ('${hashSecret(secret)}', '${terms.id}', '${prefix}', ${nowMs}, NULL)`);
  return secret;
}
