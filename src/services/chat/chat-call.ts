// One chat call, from its booking to its row, and its only owner: it asks the upstream, reads the answer, hands it on, cuts
// the upstream where nobody wants more, and closes the booking once, before anybody hears that the answer is complete.

import type { ChatChunk, ChatRequest } from '../../domain/chat.ts';
import { AppError, type FailedUpstream } from '../../domain/errors.ts';
import type { RequestEnd, Standing, StoredReply } from '../../domain/ledger.ts';
import type { BilledTokens } from '../../domain/money.ts';
import { inSpan, type TraceSpan } from '../../domain/trace.ts';
import type { TokenUsage } from '../../domain/usage.ts';
import type {
  AnswerTokens,
  AskedUpstream,
  CallWatcher,
  ChatCompletion,
  ChatUpstream,
} from '../../upstream/chat-upstream.ts';
import type { Booking, FinishedWork, LetIn, Receipt, Replay, UsedWork } from '../accounting/accounting.ts';
import type { AuthenticatedCaller } from '../caller.ts';
import { KeptChunks } from './kept-chunks.ts';

export interface ChatTerms {
  readonly request: ChatRequest;
  readonly caller: AuthenticatedCaller;
  readonly upstream: ChatUpstream;
  readonly booking: Booking;
  /** Its input is billed where the upstream tells no usage. */
  readonly expected: BilledTokens;
}

/** What the head of a reply says of its answer. */
export interface AnswerHead {
  readonly costPicoUsd: bigint;
  /** The name of the upstream that answered. */
  readonly upstream: string | undefined;
}

/** What a retry with the same idempotency key is given. */
export type Keep<Answer> = (answer: Answer, head: AnswerHead) => StoredReply;

/** Who takes a stream in. */
export interface ChatListener {
  /** An upstream, by its name, has taken the request: until then a failure can be a status of its own. */
  begin(standing: Standing, upstream: string | undefined): void;
  /** Resolves when there is room for more. Where it fails for a client that left, the caller's signal is aborted by then. */
  take(chunk: ChatChunk): Promise<void>;
  /** Of all chunks, in order. */
  readonly keep: Keep<readonly ChatChunk[]>;
}

export interface WholeAnswer {
  readonly type: 'answered';
  readonly completion: ChatCompletion;
  readonly upstream: string | undefined;
  readonly receipt: Receipt;
}

export interface StreamedAnswer {
  readonly type: 'streamed';
  /** undefined: the upstream told none. */
  readonly usage: TokenUsage | undefined;
  /** undefined: it failed. */
  readonly receipt: Receipt | undefined;
  /** Why it is not complete, or not billed: the listener has not heard the end of it. undefined: it is both. */
  readonly failure: unknown;
}

export class ChatCall implements CallWatcher {
  readonly #terms: ChatTerms;
  /** Cuts the upstream's work. */
  readonly #cut = new AbortController();
  readonly #startMs = performance.now();
  readonly endMs: number | undefined;
  /** The latest, where several were asked. */
  #asked: AskedUpstream | undefined;
  /** Of the upstream that is asked. */
  #span: TraceSpan | undefined;
  /** Those that gave no answer, in their order. */
  readonly #failed: FailedUpstream[] = [];
  #isSent = false;
  #waitMs: number | null = null;
  /** Runs while the caller's own time does. */
  readonly #deadline: NodeJS.Timeout | undefined;

  constructor(terms: ChatTerms) {
    const { signal, deadlineMs } = terms.caller;
    this.#terms = terms;
    signal.addEventListener('abort', this.#onClientLeft);
    this.endMs = deadlineMs === undefined ? undefined : this.#startMs + deadlineMs;
    if (deadlineMs !== undefined) this.#deadline = setTimeout(() => this.#cut.abort(new DeadlineError()), deadlineMs);
  }

  onAsked(upstream: AskedUpstream): TraceSpan['headers'] | undefined {
    const { caller, request } = this.#terms;
    const facts = { 'umpire.upstream': upstream.name, 'gen_ai.request.model': request.modelId };
    this.#span = caller.span?.begin('upstream', facts);
    this.#asked = upstream;
    // The one before has failed: it is not paid, and nobody has waited for its bytes.
    this.#isSent = false;
    this.#waitMs = null;
    if (caller.signal.aborted && !this.#keepsReply) this.#cut.abort(caller.signal.reason);
    return this.#span?.headers;
  }

  onSent(): void {
    this.#isSent = true;
  }

  onBytes(): void {
    this.#waitMs ??= performance.now() - this.#startMs;
  }

  onFailed(error: AppError): void {
    if (error.upstream !== undefined) this.#failed.push(error.upstream);
    this.#span?.note({ 'umpire.upstream.failure': error.upstream?.reason });
    this.#endSpan(error);
  }

  /** The grace period of a stopping server is over: what a client waits for has failed, what nobody waits for is cut. */
  stop(): void {
    const { signal } = this.#terms.caller;
    this.#cut.abort(signal.aborted ? signal.reason : new ServerStopError());
  }

  /** No more calls after it. */
  release(): void {
    clearTimeout(this.#deadline);
    this.#terms.caller.signal.removeEventListener('abort', this.#onClientLeft);
  }

  /** Resolves when the row is committed. */
  async answer(keep: Keep<string>): Promise<WholeAnswer | Replay> {
    const { upstream, request } = this.#terms;
    const opening = await this.#letIn();
    if (opening.type === 'replayed') return opening;
    const completion = await this.#orFail(() => upstream.complete(request, this.#cut.signal, this));
    const name = this.#asked?.name;
    const receipt = await this.#bill(completion, ({ costPicoUsd }) =>
      keep(completion.bodyText, { costPicoUsd, upstream: name }),
    );
    return { type: 'answered', completion, upstream: name, receipt };
  }

  /** Resolves when the row is committed. Rejects only as long as the listener has heard nothing. */
  async relay(listener: ChatListener): Promise<StreamedAnswer | Replay> {
    const { upstream, request } = this.#terms;
    const opening = await this.#letIn();
    if (opening.type === 'replayed') return opening;
    const stream = await this.#orFail(async () => {
      const begun = await upstream.stream(request, this.#cut.signal, this);
      clearTimeout(this.#deadline);
      listener.begin(opening.standing, this.#asked?.name);
      return begun;
    });
    const kept = this.#keepsReply ? new KeptChunks() : undefined;
    let failure: unknown;
    let receipt: Receipt | undefined;
    try {
      await this.#orFail(
        () => this.#handOn(stream.chunks, listener, kept),
        () => stream.tokens(),
      );
      receipt = await this.#bill(stream.tokens(), ({ costPicoUsd }) => {
        const all = kept?.all ?? null;
        return all === null ? null : listener.keep(all, { costPicoUsd, upstream: this.#asked?.name });
      });
    } catch (error) {
      failure = error;
    }
    return { type: 'streamed', usage: stream.tokens().usage, receipt, failure };
  }

  /** The upstream is not asked any more where nobody wants it by then. */
  async #letIn(): Promise<LetIn | Replay> {
    const { booking, caller } = this.#terms;
    const opening = await inSpan(caller.span, 'reserve', () => booking.letIn);
    if (opening.type === 'replayed') return opening;
    return await this.#orFail(async () => {
      this.#cut.signal.throwIfAborted();
      caller.signal.throwIfAborted();
      return opening;
    });
  }

  /** Reads to the end, and hands on as long as somebody is there. */
  async #handOn(chunks: AsyncIterable<ChatChunk>, listener: ChatListener, kept: KeptChunks | undefined): Promise<void> {
    const { signal } = this.#terms.caller;
    for await (const chunk of chunks) {
      kept?.add(chunk);
      if (!signal.aborted) {
        await listener.take(chunk).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      }
      if (signal.aborted && !this.#drains) throw signal.reason;
    }
  }

  /** Work that ends the call if it fails: the upstream is cut, and the booking closed with what has come so far. */
  async #orFail<Result>(work: () => Promise<Result>, tokensSoFar: () => AnswerTokens = () => NOTHING): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.#cut.abort(error);
      await this.#fail(error, tokensSoFar());
      throw error;
    }
  }

  /**
   * Bills a whole answer.
   * @throws AppError `store_unavailable`; the reason of a client that left, where that is free
   */
  async #bill(answer: AnswerTokens, reply: FinishedWork['reply']): Promise<Receipt> {
    const { booking, caller } = this.#terms;
    this.#endSpan();
    const hasLeft = caller.signal.aborted;
    if (hasLeft && this.#asked?.whenClientLeaves === 'free' && !this.#keepsReply) {
      await booking.fail(caller.signal.reason);
      throw caller.signal.reason;
    }
    const end: RequestEnd = hasLeft ? 'client_left' : 'completed';
    return await inSpan(caller.span, 'settle', () => booking.complete({ ...this.#usedBy(answer), reply, end }));
  }

  /** Failures cost nothing; a client that left pays what the upstream's policy says. */
  async #fail(error: unknown, answer: AnswerTokens): Promise<void> {
    const { booking, caller } = this.#terms;
    this.#endSpan(error);
    const hasLeft = caller.signal.aborted && error === caller.signal.reason;
    // With an idempotency key a retry runs anew, so this attempt must not cost a thing.
    const isBilled = hasLeft && this.#isSent && this.#asked?.whenClientLeaves !== 'free' && !this.#keepsReply;
    await booking.fail(error, isBilled ? this.#usedBy(answer) : this.#unusedWork);
  }

  #endSpan(failure?: unknown): void {
    this.#span?.note({ 'umpire.upstream.wait_ms': this.#waitMs ?? undefined });
    this.#span?.end(failure);
  }

  #usedBy({ usage, outputEstimate }: AnswerTokens): UsedWork {
    const estimate: TokenUsage = {
      inputTokens: this.#terms.expected.inputTokens,
      outputTokens: outputEstimate,
      cachedTokens: 0,
      reasoningTokens: 0,
    };
    return {
      usage: usage ?? estimate,
      isEstimated: usage === undefined,
      waitMs: this.#waitMs,
      upstream: this.#asked?.name ?? null,
      failedUpstreams: this.#failed,
    };
  }

  /** Of a call that costs nothing, but has something to tell all the same. */
  get #unusedWork(): UsedWork | undefined {
    if (this.#failed.length === 0) return undefined;
    const upstream = this.#asked?.name ?? null;
    return { usage: NOTHING_USED, isEstimated: false, waitMs: null, upstream, failedUpstreams: this.#failed };
  }

  get #keepsReply(): boolean {
    return this.#terms.caller.idempotency !== undefined;
  }

  /** Whether the answer is read to its end though nobody takes it. A retry with the same idempotency key would. */
  get #drains(): boolean {
    return this.#asked?.whenClientLeaves === 'drain' || this.#keepsReply;
  }

  readonly #onClientLeft = (): void => {
    if (!this.#drains) this.#cut.abort(this.#terms.caller.signal.reason);
  };
}

/** Not `overloaded`: the call was taken on, and its row says how it ended. */
class ServerStopError extends AppError {
  constructor() {
    super('internal_error', 'The server was stopped before the answer was complete.');
  }
}

/** Of the caller's own making: no upstream has failed. */
class DeadlineError extends AppError {
  constructor() {
    super('upstream_timeout', "The upstream has not answered within the time that 'x-umpire-deadline-ms' gives.");
  }
}

const NOTHING_USED: TokenUsage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
const NOTHING: AnswerTokens = { usage: undefined, outputEstimate: 0 };
