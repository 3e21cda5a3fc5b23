// The server's end of one life of the SQLite thread: sends calls, matches replies. Knows nothing of stores.

import { Worker } from 'node:worker_threads';
import { messageOf, StoreUnavailableError } from '../../domain/errors.ts';
import { StorageError } from '../storage-error.ts';
import type { SqliteReply, SqliteRequest, SqliteThreadData, StoreName } from './sqlite-messages.ts';

interface WaitingCall {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

// The address has the ending of this file, so that it also holds where the project is compiled.
const WORKER = new URL(`./sqlite-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

export class SqliteThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, WaitingCall>();
  readonly #exited: Promise<void>;
  #nextId = 1;
  #ended: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (reply: SqliteReply) => this.#settle(reply));
    worker.on('error', (error) => this.#end(messageOf(error)));
    this.#exited = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#end('its thread has ended');
        resolve();
      });
    });
  }

  /** @throws StorageError when the file cannot be used as a store */
  static async open(data: SqliteThreadData): Promise<SqliteThread> {
    // node:sqlite still announces itself as experimental on some of the Node versions we support.
    const worker = new Worker(WORKER, {
      workerData: data,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      // Rows and statements are small and live briefly.
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    });
    const thread = new SqliteThread(worker);
    const reply = await new Promise<SqliteReply>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new StorageError('The thread of the store ended before it began.')));
    });
    if (reply.type !== 'open-failed') return thread;
    await thread.#exited;
    throw new StorageError(describeRefusal(reply, data));
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  call(store: StoreName, method: string, args: readonly unknown[]): Promise<unknown> {
    return this.#send((id) => ({ type: 'call', id, store, method, args }));
  }

  /** Closes the file after everything sent before, then ends the thread. */
  async close(): Promise<void> {
    await this.#send((id) => ({ type: 'close', id }));
    await this.#exited;
  }

  #send(makeRequest: (id: number) => SqliteRequest): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#worker.postMessage(makeRequest(id));
      this.#waiting.set(id, { resolve, reject });
    });
  }

  #settle(reply: SqliteReply): void {
    if (reply.type !== 'result' && reply.type !== 'error') return;
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.type === 'result') waiting?.resolve(reply.result);
    else waiting?.reject(reply.isUnavailable ? new StoreUnavailableError(reply.message) : new Error(reply.message));
  }

  #end(reason: string): void {
    this.#ended ??= new StoreUnavailableError(`The SQLite store is gone: ${reason}.`);
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

function describeRefusal(
  { reason, message }: Extract<SqliteReply, { type: 'open-failed' }>,
  data: SqliteThreadData,
): string {
  switch (reason) {
    case 'refused':
      return message;
    case 'in-use':
      return `Another server uses this data folder (it holds ${data.lockFile}). One folder is for one server: stop the other, or set another dataDir.`;
    case 'broken':
      return `The store ${data.file} cannot be opened: ${message}.`;
  }
}
