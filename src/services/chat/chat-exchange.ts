// One chat call that was let in, from there to its row: what the upstream's work is cut by, what is billed of it, and
// that it is closed exactly once. The words and chunks of the answer are chat.ts's.

import { AppError } from '../../domain/errors.ts';
import type { RequestEnd } from '../../domain/ledger.ts';
import type { BilledTokens } from '../../domain/money.ts';
import type { TokenUsage } from '../../domain/usage.ts';
import type { AnswerTokens, CallWatcher, LeavingPolicy } from '../../upstream/chat-upstream.ts';
import type { Booking, FinishedWork, Receipt } from '../accounting/accounting.ts';
import type { Requester } from '../requester.ts';

export interface ChatTerms {
  readonly booking: Booking;
  readonly requester: Requester;
  /** Its input is billed where the upstream tells no usage. */
  readonly expected: BilledTokens;
  readonly whenClientLeaves: LeavingPolicy;
}

export class ChatExchange implements CallWatcher {
  /** Aborted when the upstream's work is wanted no more. */
  readonly signal: AbortSignal;
  readonly #terms: ChatTerms;
  readonly #cut = new AbortController();
  readonly #startMs = performance.now();
  #isSent = false;
  #waitMs: number | null = null;
  #isClosed = false;

  constructor(terms: ChatTerms) {
    this.#terms = terms;
    this.signal = this.#cut.signal;
    terms.requester.signal.addEventListener('abort', this.#onClientLeft);
  }

  /** Whether its row is written, or was tried to be. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether the answer is read to its end though nobody takes it. A retry with the same idempotency key would. */
  get drains(): boolean {
    return this.#terms.whenClientLeaves === 'drain' || this.keepsReply;
  }

  get keepsReply(): boolean {
    return this.#terms.requester.idempotency !== undefined;
  }

  onSent(): void {
    this.#isSent = true;
  }

  onBytes(): void {
    this.#waitMs ??= performance.now() - this.#startMs;
  }

  /** Ends the upstream's work; what waits for it gets the reason. */
  cut(reason: unknown): void {
    this.#cut.abort(reason);
  }

  /** The grace period of a stopping server is over: what a client waits for has failed, what nobody waits for is cut. */
  stop(): void {
    const { signal } = this.#terms.requester;
    this.cut(signal.aborted ? signal.reason : new ServerStopError());
  }

  /**
   * Bills a whole answer.
   * @throws AppError `store_unavailable`; the reason of a client that left, where that is free
   */
  async complete(answer: AnswerTokens, reply: FinishedWork['reply']): Promise<Receipt> {
    this.#isClosed = true;
    const { booking, requester, whenClientLeaves } = this.#terms;
    const hasLeft = requester.signal.aborted;
    if (hasLeft && whenClientLeaves === 'free' && !this.keepsReply) {
      await booking.fail(requester.signal.reason);
      throw requester.signal.reason;
    }
    const end: RequestEnd = hasLeft ? 'client_left' : 'completed';
    return await booking.complete({ ...this.#bill(answer), reply, end });
  }

  /**
   * Closes a call whose answer is not whole. Failures cost nothing; a client that left pays what the upstream's policy
   * says. Does nothing where the call is closed already.
   * @param answer what came of it
   */
  async fail(error: unknown, answer: AnswerTokens = NOTHING): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { booking, requester, whenClientLeaves } = this.#terms;
    const hasLeft = requester.signal.aborted && error === requester.signal.reason;
    // With an idempotency key a retry runs anew, so this attempt must not cost a thing.
    const isBilled = hasLeft && this.#isSent && whenClientLeaves !== 'free' && !this.keepsReply;
    await booking.fail(error, isBilled ? this.#bill(answer) : undefined);
  }

  /** No more calls after it. */
  release(): void {
    this.#terms.requester.signal.removeEventListener('abort', this.#onClientLeft);
  }

  #bill({ usage, outputEstimate }: AnswerTokens) {
    const estimate: TokenUsage = {
      inputTokens: this.#terms.expected.inputTokens,
      outputTokens: outputEstimate,
      cachedTokens: 0,
      reasoningTokens: 0,
    };
    return { usage: usage ?? estimate, isEstimated: usage === undefined, waitMs: this.#waitMs };
  }

  readonly #onClientLeft = (): void => {
    if (!this.drains) this.cut(this.#terms.requester.signal.reason);
  };
}

/** Not `overloaded`: the call was taken on, and its row says how it ended. */
class ServerStopError extends AppError {
  constructor() {
    super('internal_error', 'The server was stopped before the answer was complete.');
  }
}

const NOTHING: AnswerTokens = { usage: undefined, outputEstimate: 0 };
