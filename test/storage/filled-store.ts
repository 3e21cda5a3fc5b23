// A store with rows of every kind in every table, made through the stores' own methods, and what is in a SQLite file.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ApiKey } from '../../src/domain/api-key.ts';
import type { AuditRecord } from '../../src/domain/audit.ts';
import { costPicoUsd } from '../../src/domain/money.ts';
import type { Reservation, Stores } from '../../src/storage/stores.ts';
import { claim, FREE, HOSTILE, NOW_MS, outcome, reservation } from './ledger-fixture.ts';

const KEY: ApiKey = {
  id: 'key_1',
  name: HOSTILE,
  visiblePrefix: 'ump_Ab3d',
  models: ['kev', 'gpt-*'],
  scopes: ['inference', 'admin'],
  budget: { amountPicoUsd: 9_999_999_999_999_999_999n, reset: 'month' },
  limits: { requestsPerMinute: 100_000, tokensPerMinute: null, concurrentRequests: null },
  createdAtMs: NOW_MS,
  createdBy: 'command line',
  expiresAtMs: null,
  disabledAtMs: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
};

const MONTH_MS = 31 * 86_400_000;

function audit(action: string): AuditRecord {
  return { atMs: NOW_MS, actor: 'command line', action, target: KEY.id, details: { name: HOSTILE } };
}

const hashOf = (index: number): string => index.toString(16).padStart(64, '0');

/** @param ids of requests that end, each with another cost */
export async function settleAll(
  stores: Stores,
  ids: readonly string[],
  parts: Partial<Reservation> = {},
): Promise<void> {
  await Promise.all(
    ids.map(async (id, index) => {
      const usage = { inputTokens: 1000 + index, cachedTokens: index, outputTokens: index % 3, reasoningTokens: 0 };
      const reserved = reservation(id, { keyId: KEY.id, ...parts });
      const cost = costPicoUsd(usage, reserved.price);
      const demand = { ...FREE, costPicoUsd: cost, tokens: usage.inputTokens, budget: KEY.budget };
      await stores.ledger.reserve({ ...reserved, demand });
      await stores.ledger.settle({ id, outcome: outcome({ usage, costPicoUsd: cost }) });
    }),
  );
}

export async function fillStores(stores: Stores): Promise<void> {
  const secret = { hash: hashOf(1), visiblePrefix: KEY.visiblePrefix, createdAtMs: NOW_MS, expiresAtMs: null };
  await stores.keys.insert(KEY, secret, audit('key.create'));
  const rotation = { secret: { ...secret, hash: hashOf(2) }, overlapEndsAtMs: NOW_MS + 60_000 };
  await stores.keys.rotate(KEY.id, { ...rotation, audit: audit('key.rotate') });
  const plain = { ...KEY, id: 'key_2', models: null, budget: null };
  await stores.keys.insert(plain, { ...secret, hash: hashOf(3) }, audit('key.create'));
  const price = { inputMicroUsd: 37_800, cachedInputMicroUsd: 0, outputMicroUsd: 1_000_000_000 };
  const dated = { modelId: 'kev', effectiveFromMs: NOW_MS, price, createdAtMs: NOW_MS, createdBy: 'command line' };
  await stores.prices.insert(dated, audit('price.set'));
  await stores.ledger.beat('instance_1', NOW_MS);

  const old = { acceptedAtMs: NOW_MS - 2 * MONTH_MS };
  await settleAll(stores, ['old_1', 'old_2', 'old_3'], old);
  await settleAll(stores, ['old_4'], { ...old, keyId: 'key_2', modelId: 'gpt-5', endpoint: '/ai/v1/chat/completions' });
  await stores.usage.rollUp(NOW_MS - MONTH_MS, 100);

  await settleAll(
    stores,
    Array.from({ length: 50 }, (_, index) => `req_${index}`),
  );
  await settleAll(stores, ['other'], { keyId: 'key_2', modelId: 'gpt-5', isStreamed: true });
  const claimed = reservation('claimed', { keyId: KEY.id, idempotency: claim() });
  await stores.ledger.reserve(claimed);
  const reply = { contentType: 'application/json', body: `{"text":${JSON.stringify(HOSTILE)}}`, headers: { a: 'b' } };
  await stores.ledger.settle({ id: 'claimed', outcome: outcome({ costPicoUsd: 0n }), reply });
  const failed = outcome({ end: 'upstream_failed', status: 502, errorCode: 'upstream_error', costPicoUsd: 0n });
  await stores.ledger.reserve(reservation('failed', { keyId: KEY.id }));
  await stores.ledger.settle({ id: 'failed', outcome: failed });
  const demand = { ...FREE, costPicoUsd: 123n, tokens: 5, budget: KEY.budget };
  await stores.ledger.reserve(reservation('open', { keyId: KEY.id, demand }));
}

/** Table → its rows in the order of all their columns; integers as bigints. */
export function dumpFile(file: string): Record<string, unknown[]> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    const names = tables.all().map(({ name }) => String(name));
    return Object.fromEntries(names.sort().map((name) => [name, dumpTable(database, name)]));
  } finally {
    database.close();
  }
}

function dumpTable(database: DatabaseSync, name: string): unknown[] {
  const statement = database.prepare(`SELECT * FROM ${name}`);
  statement.setReadBigInts(true);
  return statement
    .all()
    .map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value)))
    .sort();
}

export function dumpFolder(dataDir: string): Record<string, unknown[]> {
  return dumpFile(join(dataDir, 'umpire.sqlite'));
}
