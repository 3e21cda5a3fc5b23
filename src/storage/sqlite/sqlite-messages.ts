// What goes between the server's thread and the thread of the SQLite file. Types, and the names of what may be called.

import type { GroupableLedger } from '../ledger-operation.ts';
import type { AuditStore, KeyStore, PriceStore, UsageStore } from '../stores.ts';

export interface SqliteThreadData {
  /** Path of the file, which exists. */
  readonly file: string;
  /** Path of the file whose lock says that a server uses the folder; undefined: the lock is not asked for. */
  readonly lockFile: string | undefined;
  /** Nothing is written, and the schema is taken as it is. Default: false. */
  readonly isReader?: boolean;
  /** How long a write waits for another process to finish its own. */
  readonly busyTimeoutMs: number;
}

/** Everything that is called over there. */
export interface ThreadStores {
  readonly keys: KeyStore;
  readonly prices: PriceStore;
  readonly ledger: GroupableLedger;
  readonly usage: UsageStore;
  readonly audit: AuditStore;
  readonly connection: { check(): Promise<void> };
}

export type StoreName = keyof ThreadStores;

/** Complete: a method that is missing here does not compile. */
export const STORE_METHODS: { readonly [Name in StoreName]: Readonly<Record<keyof ThreadStores[Name], true>> } = {
  keys: {
    insert: true,
    findByHash: true,
    listSecretHashes: true,
    findById: true,
    list: true,
    update: true,
    revoke: true,
    rotate: true,
    count: true,
  },
  prices: { insert: true, list: true },
  ledger: { apply: true, standing: true, beat: true, leave: true, recover: true, purgeReplies: true },
  usage: { sum: true, rows: true, latency: true, ended: true, rollUp: true },
  audit: { append: true, list: true },
  connection: { check: true },
};

export type SqliteRequest =
  | {
      readonly type: 'call';
      readonly id: number;
      readonly store: StoreName;
      readonly method: string;
      readonly args: readonly unknown[];
    }
  | { readonly type: 'close'; readonly id: number };

export type SqliteReply =
  | { readonly type: 'opened' }
  /** `in-use`: another server holds the lock. `refused`: a message for whoever starts the server. */
  | { readonly type: 'open-failed'; readonly reason: 'in-use' | 'refused' | 'broken'; readonly message: string }
  | { readonly type: 'result'; readonly id: number; readonly result: unknown }
  | { readonly type: 'error'; readonly id: number; readonly isUnavailable: boolean; readonly message: string };
