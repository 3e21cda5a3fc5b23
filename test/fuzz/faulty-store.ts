// Stores that fail now and then, for real: SQLite whose write lock somebody else holds, PostgreSQL whose connections are
// cut at any statement and that is away for a while.

import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RandomSource } from '../models/random-source.ts';
import { type MoneyStore, PostgresMoneyStore, SqliteMoneyStore } from '../money/money-store.ts';
import { CuttingProxy } from '../postgres/cutting-proxy.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';

export const STORE_NAMES = ['sqlite', 'postgres'] as const;
export type StoreName = (typeof STORE_NAMES)[number];

export interface FaultyStore {
  readonly store: MoneyStore;
  /** For the server. */
  readonly settings: Readonly<Record<string, string>>;
  /** One failure, from its beginning to its end. */
  fail(random: RandomSource, signal: AbortSignal): Promise<void>;
  dispose(): Promise<void>;
}

export async function openFaultyStore(name: StoreName): Promise<FaultyStore> {
  return name === 'sqlite' ? openSqlite() : await openPostgres();
}

/** Resolves early, and does not throw, when the signal comes. */
async function waitMs(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

function openSqlite(): FaultyStore {
  const store = new SqliteMoneyStore();
  return {
    store,
    settings: store.settings,
    fail: async (random, signal) => {
      const database = new DatabaseSync(join(store.dataDir, 'umpire.sqlite'), { timeout: 500 });
      try {
        database.exec('BEGIN IMMEDIATE');
        await waitMs(random.scaled(20, 6000), signal);
        database.exec('ROLLBACK');
      } catch {
        // The server was faster.
      } finally {
        database.close();
      }
    },
    dispose: () => store.dispose(),
  };
}

async function openPostgres(): Promise<FaultyStore> {
  const server = await PostgresServer.start();
  const store = await PostgresMoneyStore.create(server);
  const proxy = await CuttingProxy.before(server.port);
  return {
    store,
    settings: { UMPIRE_DATABASE_URL: proxy.urlOf(store.settings.UMPIRE_DATABASE_URL) },
    fail: async (random, signal) => {
      const hasEnded = once(signal, 'abort');
      await Promise.race([proxy.cutAfter(random.whole(0, 60), random.pick(['before', 'after'])), hasEnded]);
      await waitMs(random.scaled(20, 6000), signal);
      proxy.restore();
    },
    dispose: async () => {
      await proxy.close();
      await store.dispose();
      await server.dispose();
    },
  };
}
