// The thread of one SQLite file: node:sqlite is synchronous, so it must not run where requests are served. All stores
// run here, next to the file; what crosses the thread is a call and its result.

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Kysely } from 'kysely';
import { messageOf, StoreUnavailableError } from '../../domain/errors.ts';
import { KyselyAuditStore } from '../kysely-audit-store.ts';
import { KyselyKeyStore } from '../kysely-key-store.ts';
import { KyselyLedger } from '../kysely-ledger.ts';
import { KyselyPriceStore } from '../kysely-price-store.ts';
import { KyselyUsageStore } from '../kysely-usage-store.ts';
import { migrate } from '../migrations.ts';
import type { Database } from '../schema.ts';
import { StorageError } from '../storage-error.ts';
import { FolderInUse, type FolderLock, holdFolderLock } from './folder-lock.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { NodeSqliteDialect } from './sqlite-dialect.ts';
import { isUnavailable } from './sqlite-error.ts';
import {
  type SqliteReply,
  type SqliteRequest,
  type SqliteThreadData,
  STORE_METHODS,
  type ThreadStores,
} from './sqlite-messages.ts';

type StoreCall = Extract<SqliteRequest, { type: 'call' }>;

class StoreThread {
  readonly #port: MessagePort;
  readonly #database: Kysely<Database>;
  readonly #stores: ThreadStores;
  readonly #lock: FolderLock | undefined;
  readonly #underWay = new Set<Promise<void>>();

  private constructor(port: MessagePort, database: Kysely<Database>, lock: FolderLock | undefined) {
    this.#port = port;
    this.#database = database;
    this.#lock = lock;
    this.#stores = createStores(database);
  }

  static async open(
    port: MessagePort,
    { file, lockFile, isReader = false, busyTimeoutMs }: SqliteThreadData,
  ): Promise<void> {
    const lock = lockFile === undefined ? undefined : holdFolderLock(lockFile);
    const connection = new SqliteConnection(file, { busyTimeoutMs, isReader });
    const database = new Kysely<Database>({ dialect: new NodeSqliteDialect(connection) });
    if (!isReader) await migrate(database, Date.now());
    const thread = new StoreThread(port, database, lock);
    port.on('message', (request: SqliteRequest) => thread.#take(request));
  }

  #take(request: SqliteRequest): void {
    if (request.type === 'close') {
      void this.#close(request.id);
      return;
    }
    const answered = this.#answer(request).finally(() => this.#underWay.delete(answered));
    this.#underWay.add(answered);
  }

  async #answer({ id, store, method, args }: StoreCall): Promise<void> {
    try {
      if (!Object.hasOwn(STORE_METHODS[store], method)) throw new Error(`There is no ${store}.${method}.`);
      const methods = this.#stores[store] as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
      this.#reply({ type: 'result', id, result: await methods[method]?.(...args) });
    } catch (error) {
      const unavailable = error instanceof StoreUnavailableError || isUnavailable(error);
      this.#reply({ type: 'error', id, isUnavailable: unavailable, message: messageOf(error) });
    }
  }

  async #close(id: number): Promise<void> {
    await Promise.all(this.#underWay);
    try {
      await this.#database.destroy();
      this.#lock?.close();
      this.#reply({ type: 'result', id, result: undefined });
    } catch (error) {
      this.#reply({ type: 'error', id, isUnavailable: true, message: messageOf(error) });
    }
    this.#port.close();
  }

  #reply(message: SqliteReply): void {
    this.#port.postMessage(message);
  }
}

function createStores(database: Kysely<Database>): ThreadStores {
  const check = async (): Promise<void> => {
    await database.selectFrom('schema_migrations').select('version').executeTakeFirst();
  };
  return {
    keys: new KyselyKeyStore(database),
    prices: new KyselyPriceStore(database),
    ledger: new KyselyLedger(database),
    usage: new KyselyUsageStore(database),
    audit: new KyselyAuditStore(database),
    connection: { check },
  };
}

function tellOpenFailure(error: unknown): SqliteReply {
  const reason = error instanceof FolderInUse ? 'in-use' : error instanceof StorageError ? 'refused' : 'broken';
  return { type: 'open-failed', reason, message: messageOf(error) };
}

if (parentPort === null) throw new Error('This file is the entry of a thread.');
try {
  await StoreThread.open(parentPort, workerData as SqliteThreadData);
  parentPort.postMessage({ type: 'opened' } satisfies SqliteReply);
} catch (error) {
  parentPort.postMessage(tellOpenFailure(error));
}
