// The stores as the server's thread sees them: each call becomes a message. A thread that was lost is opened again by
// the next call; until then, and while it cannot be opened, calls fail.

import { messageOf, StoreUnavailableError } from '../../domain/errors.ts';
import { type SqliteThreadData, STORE_METHODS, type StoreName, type ThreadStores } from './sqlite-messages.ts';
import { SqliteThread } from './sqlite-thread.ts';

/** After an opening that failed: a burst of requests must not become a burst of threads. */
const REOPEN_PAUSE_MS = 250;

export class SqliteClient {
  readonly #data: SqliteThreadData;
  #thread: SqliteThread | undefined;
  #opening: Promise<SqliteThread> | undefined;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  /** Its thread is started by the first call. */
  constructor(data: SqliteThreadData) {
    this.#data = data;
  }

  /** @throws StorageError when the file cannot be used as a store */
  static async open(data: SqliteThreadData): Promise<SqliteClient> {
    const client = new SqliteClient(data);
    client.#thread = await SqliteThread.open(data);
    return client;
  }

  store<Name extends StoreName>(name: Name): ThreadStores[Name] {
    const methods = Object.keys(STORE_METHODS[name]).map((method) => [
      method,
      (...args: readonly unknown[]) => this.#call(name, method, args),
    ]);
    return Object.fromEntries(methods) as ThreadStores[Name];
  }

  /** Closes the file after everything that was called before. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // What is being opened is closed as well; that it cannot be opened is told to who called.
    const thread = (await this.#opening?.catch(() => undefined)) ?? this.#thread;
    if (thread?.hasEnded === false) await thread.close();
  }

  async #call(store: StoreName, method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#isClosed) throw new StoreUnavailableError('The store is closed.');
    const thread = this.#thread?.hasEnded === false ? this.#thread : await this.#reopen();
    return await thread.call(store, method, args);
  }

  #reopen(): Promise<SqliteThread> {
    this.#opening ??= this.#openAgain().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openAgain(): Promise<SqliteThread> {
    const pauseMs = this.#failedAtMs + REOPEN_PAUSE_MS - performance.now();
    if (pauseMs > 0) throw new StoreUnavailableError('The SQLite store is gone and could not be opened again.');
    try {
      const thread = await SqliteThread.open(this.#data);
      this.#thread = thread;
      return thread;
    } catch (error) {
      this.#failedAtMs = performance.now();
      throw new StoreUnavailableError(messageOf(error));
    }
  }
}
