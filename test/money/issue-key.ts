// Keys made as an administrator makes them: over the admin route of a running server.

import { formatUsd } from '../../src/domain/money.ts';
import { testLogs } from '../log-scan/test-logs.ts';
import { ADMIN_KEY } from './fleet.ts';

export interface KeyTerms {
  readonly scopes?: readonly ('inference' | 'admin')[];
  readonly models?: readonly string[];
  readonly budgetPicoUsd?: bigint;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly concurrentRequests?: number;
}

export interface IssuedKey {
  readonly id: string;
  readonly secret: string;
}

/** A budget is reset every month. */
export async function issueKey(address: string, terms: KeyTerms = {}): Promise<IssuedKey> {
  const { scopes, models, budgetPicoUsd, requestsPerMinute, tokensPerMinute, concurrentRequests } = terms;
  const reply = await fetch(`${address}/admin/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'test',
      scopes,
      models,
      budget: budgetPicoUsd === undefined ? null : { amount_usd: formatUsd(budgetPicoUsd), reset: 'month' },
      limits: {
        requests_per_minute: requestsPerMinute,
        tokens_per_minute: tokensPerMinute,
        concurrent_requests: concurrentRequests,
      },
    }),
  });
  if (reply.status !== 201) throw new Error(`No key was made: ${reply.status} ${await reply.text()}`);
  const { id, key: secret } = (await reply.json()) as { id: string; key: string };
  testLogs.keepSecret(secret);
  return { id, secret };
}
