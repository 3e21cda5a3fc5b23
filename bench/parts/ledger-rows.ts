// How many requests a second the ledger takes through its interface: each is reserved, then settled, as the server does
// it, by many callers at once, each with one request at a time.

import type { LedgerStore, Reservation } from '../../src/storage/stores.ts';

const KEYS = 8;
const TOKENS = 140;
const PRICE_MICRO_USD = 37_800;
const COST_PICO_USD = BigInt(TOKENS * PRICE_MICRO_USD);
const INSTANCE_ID = 'instance_bench';

export async function measureLedgerRows(
  ledger: LedgerStore,
  { concurrency, durationMs }: { readonly concurrency: number; readonly durationMs: number },
) {
  await ledger.beat(INSTANCE_ID, Date.now());
  let rows = 0;
  const startedMs = performance.now();
  const call = async (caller: number): Promise<void> => {
    for (let request = 0; performance.now() - startedMs < durationMs; request++) {
      await writeRow(ledger, makeReservation(caller, request));
      rows++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, caller) => call(caller)));
  const elapsedMs = performance.now() - startedMs;
  await ledger.leave(INSTANCE_ID);
  return { concurrency, rows, elapsedMs, rowsPerSecond: (rows / elapsedMs) * 1000 };
}

/** A key with a budget and every limit. */
function makeReservation(caller: number, request: number): Reservation {
  return {
    id: `bench-${caller}-${request}`,
    requestId: `req_bench-${caller}-${request}`,
    keyId: `key_bench${caller % KEYS}`,
    modelId: 'kev',
    endpoint: '/ai/v1/systemone',
    isStreamed: false,
    acceptedAtMs: Date.now(),
    price: { inputMicroUsd: PRICE_MICRO_USD, cachedInputMicroUsd: PRICE_MICRO_USD, outputMicroUsd: 0 },
    instanceId: INSTANCE_ID,
    demand: {
      costPicoUsd: COST_PICO_USD,
      tokens: TOKENS,
      budget: { amountPicoUsd: 10n ** 18n, reset: 'month' },
      limits: { requestsPerMinute: 1e9, tokensPerMinute: 1e9, concurrentRequests: 1e6 },
    },
    idempotency: null,
  };
}

async function writeRow(ledger: LedgerStore, reservation: Reservation): Promise<void> {
  const reserved = await ledger.reserve(reservation);
  if (reserved.type !== 'reserved') throw new Error(`A reservation was answered with ${reserved.type}.`);
  const outcome = {
    end: 'completed',
    status: 200,
    errorCode: null,
    usage: { inputTokens: TOKENS, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    isEstimated: false,
    costPicoUsd: COST_PICO_USD,
    durationMs: 7,
    waitMs: 0,
    upstream: null,
    upstreamFailures: null,
  } as const;
  const settled = await ledger.settle({ id: reservation.id, outcome });
  if (settled.type !== 'settled') throw new Error('A reservation was lost.');
}
