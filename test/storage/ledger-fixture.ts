// Requests as the suites of the ledger make them: everything given, and what a case is about overridden.

import { afterEach, beforeEach } from 'vitest';
import { NO_LIMITS } from '../../src/domain/api-key.ts';
import type { Demand, LedgerRow, RequestOutcome } from '../../src/domain/ledger.ts';
import type { IdempotencyClaim, Reservation, ReserveOutcome, Settlement, Stores } from '../../src/storage/stores.ts';

export interface OpenedStores {
  readonly stores: Stores;
  /** A second connection to the same data, as another process has it. */
  openAgain(): Promise<Stores>;
  remove(): Promise<void>;
}

/** Opens stores of their own for each case of the suite that calls this. @param take is handed them before the case */
export function openForEachCase(open: () => Promise<OpenedStores>, take: (opened: OpenedStores) => void): void {
  let opened: OpenedStores;
  beforeEach(async () => {
    opened = await open();
    take(opened);
  });
  afterEach(() => opened.remove());
}

export const HOSTILE = "Zoë's key'); DROP TABLE api_keys; -- \\ % _ $1 ? \" `";
export const NOW_MS = Date.UTC(2026, 10, 21, 18, 30);
export const DAY_MS = 86_400_000;
export const COST = 1_000n;

export const FREE: Demand = { costPicoUsd: 0n, tokens: 0, budget: null, limits: NO_LIMITS };

export function reservation(id: string, parts: Partial<Reservation> = {}): Reservation {
  return {
    id,
    requestId: `request of ${id}`,
    keyId: 'key_1',
    modelId: 'kev',
    endpoint: '/ai/v1/systemone',
    isStreamed: false,
    acceptedAtMs: NOW_MS,
    price: { inputMicroUsd: 37_800, cachedInputMicroUsd: 0, outputMicroUsd: 1_000_000_000 },
    instanceId: 'instance_1',
    demand: FREE,
    idempotency: null,
    ...parts,
  };
}

export function outcome(parts: Partial<RequestOutcome> = {}): RequestOutcome {
  return {
    end: 'completed',
    status: 200,
    errorCode: null,
    usage: { inputTokens: 7, cachedTokens: 3, outputTokens: 5, reasoningTokens: 2 },
    isEstimated: false,
    costPicoUsd: COST,
    durationMs: 12,
    waitMs: 4,
    upstream: null,
    upstreamFailures: null,
    ...parts,
  };
}

export function settlement(id: string, parts: Partial<RequestOutcome> = {}, reply?: Settlement['reply']): Settlement {
  return { id, outcome: outcome(parts), ...(reply === undefined ? {} : { reply }) };
}

export function claim(parts: Partial<IdempotencyClaim> = {}): IdempotencyClaim {
  return { keyHash: 'aa'.repeat(32), fingerprint: 'ff'.repeat(32), expiresAtMs: NOW_MS + DAY_MS, ...parts };
}

/** The row that a reservation and its settlement leave. */
export function rowOf(reserved: Reservation, ended: RequestOutcome): LedgerRow {
  const { instanceId: _instanceId, demand: _demand, idempotency: _idempotency, ...accepted } = reserved;
  return { ...accepted, ...ended };
}

export async function rowsOf({ usage }: Stores): Promise<readonly LedgerRow[]> {
  return await usage.rows({ fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, { before: undefined, limit: 10_000 });
}

export function typesOf(outcomes: readonly ReserveOutcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of outcomes) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
