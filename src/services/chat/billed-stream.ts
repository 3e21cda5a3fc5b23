// The chunks of one chat call on their way to its client. Wherever its reading ends: the call is closed before the reader
// learns of the end, and what the upstream still says is read or cut, as the terms of the call want it.

import type { ChatChunk } from '../../domain/chat.ts';
import type { StoredReply } from '../../domain/ledger.ts';
import type { ChatStream } from '../../upstream/chat-upstream.ts';
import type { Requester } from '../requester.ts';
import type { ChatExchange } from './chat-exchange.ts';

/** UTF-16 code units of a stream that are kept for a retry at most: one without end must not fill the memory. */
const MAX_KEPT_LENGTH = 64 * 1024 * 1024;

interface StreamCaller {
  readonly requester: Requester;
  readonly keeper: { keepStream(chunks: readonly ChatChunk[], costPicoUsd: bigint): StoredReply };
}

export class BilledStream {
  readonly #answer: ChatStream;
  readonly #source: AsyncIterator<ChatChunk>;
  readonly #exchange: ChatExchange;
  readonly #caller: StreamCaller;
  readonly #kept: ChatChunk[] = [];
  #keptLength = 0;

  constructor(answer: ChatStream, exchange: ChatExchange, caller: StreamCaller) {
    this.#answer = answer;
    this.#source = answer.chunks[Symbol.asyncIterator]();
    this.#exchange = exchange;
    this.#caller = caller;
  }

  /** To be read once. Leaving the loop leaves the upstream alone: what becomes of it, `leave` and `abandon` say. */
  async *chunks(): AsyncGenerator<ChatChunk, void, undefined> {
    for (;;) {
      const chunk = await this.#next();
      if (chunk === undefined) return;
      yield chunk;
    }
  }

  /** The reader takes no more. Does not throw: nobody is left to be told. */
  async leave(): Promise<void> {
    if (this.#exchange.isClosed) return;
    const { signal } = this.#caller.requester;
    if (!signal.aborted) return await this.abandon(new Error('The reader of the stream stopped before its end.'));
    if (!this.#exchange.drains) return await this.abandon(signal.reason);
    await this.#readOn();
  }

  /** The upstream is cut, the call closed with this error. */
  async abandon(error: unknown): Promise<void> {
    if (this.#exchange.isClosed) return;
    this.#exchange.cut(error);
    await this.#exchange.fail(error, this.#answer.tokens());
  }

  async #readOn(): Promise<void> {
    try {
      while ((await this.#next()) !== undefined);
    } catch {
      // The call is closed with it.
    }
  }

  /** @returns undefined once the upstream has said all and the call is closed */
  async #next(): Promise<ChatChunk | undefined> {
    let next: IteratorResult<ChatChunk>;
    try {
      next = await this.#source.next();
    } catch (error) {
      await this.#exchange.fail(error, this.#answer.tokens());
      throw error;
    }
    if (next.done !== true) {
      this.#keep(next.value);
      return next.value;
    }
    const { keepStream } = this.#caller.keeper;
    const isWhole = this.#keptLength <= MAX_KEPT_LENGTH;
    await this.#exchange.complete(this.#answer.tokens(), ({ costPicoUsd }) =>
      isWhole ? keepStream(this.#kept, costPicoUsd) : null,
    );
    return undefined;
  }

  #keep(chunk: ChatChunk): void {
    if (!this.#exchange.keepsReply || this.#keptLength > MAX_KEPT_LENGTH) return;
    this.#keptLength += chunk.json.length;
    this.#kept.push(chunk);
  }
}
