// The use case of a chat call: find the model, let the call in, ask the upstream that offers it, close the call. Every
// chat call passes here and ends here, whoever ends it; what a body says is the upstream's business.

import type { ChatChunk, ChatRequest } from '../../domain/chat.ts';
import type { Standing, StoredReply } from '../../domain/ledger.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { TokenUsage } from '../../domain/usage.ts';
import type { ChatUpstream } from '../../upstream/chat-upstream.ts';
import type { Accounting, Receipt, Replay } from '../accounting/accounting.ts';
import type { Catalog } from '../catalog.ts';
import type { Requester } from '../requester.ts';
import { BilledStream } from './billed-stream.ts';
import { ChatExchange } from './chat-exchange.ts';

/** What a retry with the same idempotency key is given. */
export interface ChatReplyKeeper {
  keepCompletion(bodyText: string, costPicoUsd: bigint): StoredReply;
  /** @param chunks all of them, in order */
  keepStream(chunks: readonly ChatChunk[], costPicoUsd: bigint): StoredReply;
}

export interface ChatCaller {
  readonly requester: Requester;
  readonly keeper: ChatReplyKeeper;
}

export interface ChatCompletionReply {
  readonly type: 'answered';
  readonly model: ModelCard;
  /** JSON text for the client. */
  readonly bodyText: string;
  /** undefined: the upstream told none. */
  readonly usage: TokenUsage | undefined;
  readonly receipt: Receipt;
}

export interface ChatReplyStream {
  /** Where the key stands as the stream begins. */
  readonly standing: Standing;
  /**
   * Ends when the row of the call is committed. Throws an AppError when the upstream breaks off or the row cannot be
   * written, the requester's signal's reason when the client has left.
   */
  readonly chunks: AsyncIterable<ChatChunk>;
}

export interface ChatStreamEnd {
  readonly type: 'streamed';
  readonly model: ModelCard;
  /** undefined: the upstream told none. */
  readonly usage: TokenUsage | undefined;
}

interface OpenCall {
  readonly type: 'opened';
  readonly model: ModelCard;
  readonly upstream: ChatUpstream;
  readonly exchange: ChatExchange;
  readonly standing: Standing;
}

export class ChatService {
  readonly #catalog: Catalog;
  readonly #accounting: Accounting;
  readonly #upstreamOfModel: ReadonlyMap<string, ChatUpstream>;
  /** Calls that are not at their end, those whose client has left included. */
  readonly #calls = new Set<Promise<unknown>>();
  readonly #exchanges = new Set<ChatExchange>();
  #isCut = false;

  constructor(upstreams: readonly ChatUpstream[], catalog: Catalog, accounting: Accounting) {
    this.#catalog = catalog;
    this.#accounting = accounting;
    this.#upstreamOfModel = new Map(
      upstreams.flatMap((upstream) => upstream.models.map((model) => [model.id, upstream])),
    );
  }

  /**
   * Resolves when the row is committed.
   * @throws AppError of the catalog, the accounting and the upstream; the signal's reason when the client left
   */
  async complete(request: ChatRequest, { requester, keeper }: ChatCaller): Promise<ChatCompletionReply | Replay> {
    return await this.#run(request, requester, async ({ model, upstream, exchange }) => {
      const { bodyText, ...answer } = await upstream.complete(request, exchange.signal, exchange);
      const keep = ({ costPicoUsd }: Pick<Receipt, 'costPicoUsd'>) => keeper.keepCompletion(bodyText, costPicoUsd);
      const receipt = await exchange.complete(answer, keep);
      return { type: 'answered', model, bodyText, usage: answer.usage, receipt };
    });
  }

  /**
   * Streams an answer. Resolves when its row is committed, which may be long after the client has left.
   * @param deliver is called once the upstream has taken the request: until then a failure can be a status of its own. It
   * resolves when it takes no more chunks, at their end or before.
   * @throws AppError of the catalog, the accounting and the upstream; the signal's reason when the client left before
   * delivery; whatever `deliver` throws
   */
  async stream(
    request: ChatRequest,
    { requester, keeper }: ChatCaller,
    deliver: (stream: ChatReplyStream) => Promise<void>,
  ): Promise<ChatStreamEnd | Replay> {
    return await this.#run(request, requester, async ({ model, upstream, exchange, standing }) => {
      const answer = await upstream.stream(request, exchange.signal, exchange);
      const stream = new BilledStream(answer, exchange, { requester, keeper });
      try {
        await deliver({ standing, chunks: stream.chunks() });
      } catch (error) {
        await stream.abandon(error);
        throw error;
      }
      await stream.leave();
      return { type: 'streamed', model, usage: answer.tokens().usage };
    });
  }

  /** Resolves when all calls so far are at their end, with their rows written. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#calls);
  }

  /** Ends what the upstreams still do, and are still asked to; `close` then waits for no more than the rows. */
  cut(): void {
    this.#isCut = true;
    for (const exchange of this.#exchanges) exchange.stop();
  }

  /** Every call's way: let in, worked on, closed, whatever happens in between. */
  async #run<Result>(
    request: ChatRequest,
    requester: Requester,
    work: (call: OpenCall) => Promise<Result>,
  ): Promise<Result | Replay> {
    const call = this.#openAndClose(request, requester, work);
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  async #openAndClose<Result>(
    request: ChatRequest,
    requester: Requester,
    work: (call: OpenCall) => Promise<Result>,
  ): Promise<Result | Replay> {
    const opened = await this.#open(request, requester);
    if (opened.type === 'replayed') return opened;
    const { exchange } = opened;
    this.#exchanges.add(exchange);
    if (this.#isCut) exchange.stop();
    try {
      exchange.signal.throwIfAborted();
      requester.signal.throwIfAborted();
      return await work(opened);
    } catch (error) {
      await exchange.fail(error);
      throw error;
    } finally {
      exchange.release();
      this.#exchanges.delete(exchange);
    }
  }

  async #open(request: ChatRequest, requester: Requester): Promise<OpenCall | Replay> {
    const model = this.#catalog.getModelOfType(requester.key, request.modelId, 'llm');
    const upstream = this.#upstreamOfModel.get(model.id);
    if (upstream === undefined) throw new Error(`No upstream offers the model "${model.id}".`);
    const expected = upstream.expect(request);
    const booking = this.#accounting.book({ requester, model, isStreamed: request.stream, expected });
    const opening = await booking.letIn;
    if (opening.type === 'replayed') return opening;
    const { whenClientLeaves } = upstream;
    const exchange = new ChatExchange({ booking, requester, expected, whenClientLeaves });
    return { type: 'opened', model, upstream, exchange, standing: opening.standing };
  }
}
