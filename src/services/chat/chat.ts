// The use case of a chat call: find the model, book the call, ask the upstream that offers it. Every chat call passes here;
// what a body says is the upstream's business, and how a call ends its own (chat-call.ts).

import { type ChatRequest, ENDPOINT_OF_FORMAT } from '../../domain/chat.ts';
import { AppError } from '../../domain/errors.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { TokenUsage } from '../../domain/usage.ts';
import type { ChatUpstream } from '../../upstream/chat-upstream.ts';
import type { Accounting, Receipt, Replay } from '../accounting/accounting.ts';
import type { AuthenticatedCaller } from '../caller.ts';
import type { Catalog } from '../catalog.ts';
import { ChatCall, type ChatListener, type Keep } from './chat-call.ts';

export interface ChatCompletionReply {
  readonly type: 'answered';
  readonly model: ModelCard;
  /** JSON text for the client. */
  readonly bodyText: string;
  /** undefined: the upstream told none. */
  readonly usage: TokenUsage | undefined;
  /** The name of the one that answered. */
  readonly upstream: string | undefined;
  readonly receipt: Receipt;
}

export interface ChatStreamEnd {
  readonly type: 'streamed';
  readonly model: ModelCard;
  /** undefined: the upstream told none. */
  readonly usage: TokenUsage | undefined;
  /** undefined: it failed. */
  readonly receipt: Receipt | undefined;
  /**
   * What the client is to be told instead of an end: the upstream broke off (AppError), the row cannot be written
   * (`store_unavailable`), the client has left (the reason of its signal). undefined: the stream is whole, and billed.
   */
  readonly failure: unknown;
}

/** Which upstream a call goes to. What it offers may change at any time; a call keeps what it was given. */
export interface UpstreamDirectory {
  find(modelId: string): ChatUpstream | undefined;
}

interface OpenCall {
  readonly model: ModelCard;
  readonly call: ChatCall;
}

export class ChatService {
  readonly #catalog: Catalog;
  readonly #accounting: Accounting;
  readonly #upstreams: UpstreamDirectory;
  /** Calls that are not at their end, those whose client has left included. */
  readonly #calls = new Map<ChatCall, Promise<unknown>>();
  #isCut = false;

  constructor(upstreams: UpstreamDirectory, catalog: Catalog, accounting: Accounting) {
    this.#upstreams = upstreams;
    this.#catalog = catalog;
    this.#accounting = accounting;
  }

  /**
   * Resolves when the row is committed.
   * @param keep of the body's text
   * @throws AppError of the catalog, the accounting and the upstream; the signal's reason when the client left
   */
  async complete(
    request: ChatRequest,
    caller: AuthenticatedCaller,
    keep: Keep<string>,
  ): Promise<ChatCompletionReply | Replay> {
    const { model, call } = this.#open(request, caller);
    const answered = await this.#untilClosed(call, call.answer(keep));
    if (answered.type === 'replayed') return answered;
    const { completion, upstream, receipt } = answered;
    return { type: 'answered', model, bodyText: completion.bodyText, usage: completion.usage, upstream, receipt };
  }

  /**
   * Streams an answer. Resolves when its row is committed, which may be long after the client has left: only then may the
   * client be told that the stream is at its end.
   * @throws what `complete` does, as long as the listener has heard nothing; what its `begin` throws
   */
  async stream(
    request: ChatRequest,
    caller: AuthenticatedCaller,
    listener: ChatListener,
  ): Promise<ChatStreamEnd | Replay> {
    const { model, call } = this.#open(request, caller);
    const streamed = await this.#untilClosed(call, call.relay(listener));
    return streamed.type === 'replayed' ? streamed : { ...streamed, model };
  }

  /** Resolves when all calls so far are at their end, with their rows written. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#calls.values());
  }

  /** Ends what the upstreams still do, and are still asked to; `close` then waits for no more than the rows. */
  cut(): void {
    this.#isCut = true;
    for (const call of this.#calls.keys()) call.stop();
  }

  #open(request: ChatRequest, caller: AuthenticatedCaller): OpenCall {
    const model = this.#catalog.getModelOfType(caller.key, request.modelId, 'llm');
    const upstream = this.#upstreams.find(model.id);
    if (upstream === undefined) throw new Error(`No upstream offers the model "${model.id}".`);
    const endpoint = ENDPOINT_OF_FORMAT[request.format];
    if (!upstream.takes(request.format)) {
      const message = `No upstream of this model is configured for POST ${endpoint}. It works on POST ${ENDPOINT_OF_FORMAT.chat}.`;
      throw new AppError('model_type_mismatch', message, { param: 'model' });
    }
    const expected = upstream.expect(request);
    const booking = this.#accounting.book({ caller, model, isStreamed: request.stream, endpoint, expected });
    const call = new ChatCall({ request, caller, upstream, booking, expected });
    if (this.#isCut) call.stop();
    return { model, call };
  }

  async #untilClosed<Result>(call: ChatCall, result: Promise<Result>): Promise<Result> {
    this.#calls.set(call, result);
    try {
      return await result;
    } finally {
      call.release();
      this.#calls.delete(call);
    }
  }
}
