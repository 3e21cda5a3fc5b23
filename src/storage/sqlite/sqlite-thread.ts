// The server's end of the SQLite thread: sends statements, matches replies. Knows nothing of tables.

import { Worker } from 'node:worker_threads';
import { StorageError } from '../storage-error.ts';
import type { SqliteReply, SqliteRequest, SqliteResult, SqliteThreadData, SqliteValue } from './sqlite-messages.ts';

interface Waiting {
  readonly resolve: (result: SqliteResult) => void;
  readonly reject: (error: Error) => void;
}

// The address has the ending of this file, so that it also holds where the project is compiled.
const WORKER = new URL(`./sqlite-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

export class SqliteThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #ended: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (reply: SqliteReply) => this.#settle(reply));
    worker.on('error', (error) => this.#end(error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', () => this.#end(new Error('The store is closed.')));
  }

  /** @throws StorageError when the file cannot be opened as a database */
  static async open(data: SqliteThreadData): Promise<SqliteThread> {
    // node:sqlite still announces itself as experimental on some of the Node versions we support.
    const worker = new Worker(WORKER, {
      workerData: data,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      // Rows and statements are small and live briefly.
      resourceLimits: { maxYoungGenerationSizeMb: 1 },
    });
    const thread = new SqliteThread(worker);
    const reply = await new Promise<SqliteReply>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    if (reply.type === 'open-failed')
      throw new StorageError(`The store ${data.file} cannot be opened: ${reply.message}.`);
    return thread;
  }

  query(sql: string, parameters: readonly SqliteValue[]): Promise<SqliteResult> {
    return this.#send((id) => ({ type: 'query', id, sql, parameters }));
  }

  /** Closes the file after everything sent before, then ends the thread. */
  async close(): Promise<void> {
    const exited = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    await this.#send((id) => ({ type: 'close', id }));
    await exited;
  }

  #send(makeRequest: (id: number) => SqliteRequest): Promise<SqliteResult> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage(makeRequest(id));
    });
  }

  #settle(reply: SqliteReply): void {
    if (reply.type !== 'result' && reply.type !== 'error') return;
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.type === 'result') waiting?.resolve(reply.result);
    else waiting?.reject(new Error(reply.message));
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
