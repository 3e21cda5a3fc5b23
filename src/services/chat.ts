// The use case of a chat call: find the model, ask the upstream that offers it. Every chat call and everything that is
// known of its end passes here; what a body says is the upstream's business.

import type { ModelCard } from '../domain/model-card.ts';
import type { ChatChunk, ChatRequest, ChatUpstream, ChatUsage } from '../upstream/chat-upstream.ts';
import type { Accounting, OpenRequest } from './accounting.ts';
import type { Catalog } from './catalog.ts';
import type { Requester } from './requester.ts';

export type { ChatChunk, ChatRequest } from '../upstream/chat-upstream.ts';

export interface ChatReply {
  readonly model: ModelCard;
  /** JSON text for the client. */
  readonly bodyText: string;
  readonly usage: ChatUsage | undefined;
}

export interface ChatReplyStream {
  readonly model: ModelCard;
  /** Throws an AppError when the upstream breaks off, the requester's signal's reason when the client leaves. */
  readonly chunks: AsyncIterable<ChatChunk>;
  /** The last usage told so far; complete once `chunks` has ended, however it ended. */
  usage(): ChatUsage | undefined;
}

export class ChatService {
  readonly #catalog: Catalog;
  readonly #accounting: Accounting;
  readonly #upstreamOfModel: ReadonlyMap<string, ChatUpstream>;

  constructor(upstreams: readonly ChatUpstream[], catalog: Catalog, accounting: Accounting) {
    this.#catalog = catalog;
    this.#accounting = accounting;
    this.#upstreamOfModel = new Map(
      upstreams.flatMap((upstream) => upstream.models.map((model) => [model.id, upstream])),
    );
  }

  /** @throws AppError of the catalog and of the upstream; the signal's reason when the client left */
  async complete(request: ChatRequest, requester: Requester): Promise<ChatReply> {
    const { model, upstream } = this.#find(request, requester);
    await this.#open(model, requester, false);
    const completion = await upstream.complete(request, requester.signal);
    return { model, ...completion };
  }

  /** Resolves when the upstream has taken the request: until then a failure can still be a status of its own. */
  async stream(request: ChatRequest, requester: Requester): Promise<ChatReplyStream> {
    const { model, upstream } = this.#find(request, requester);
    await this.#open(model, requester, true);
    const stream = await upstream.stream(request, requester.signal);
    return { model, chunks: stream.chunks, usage: () => stream.usage() };
  }

  async #open(model: ModelCard, requester: Requester, isStreamed: boolean): Promise<OpenRequest> {
    const expected = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
    const opening = await this.#accounting.open({ requester, model, isStreamed, expected });
    if (opening.type === 'replayed') throw new Error('Nothing is kept of chat.');
    return opening.request;
  }

  #find({ modelId }: ChatRequest, { key }: Requester): { model: ModelCard; upstream: ChatUpstream } {
    const model = this.#catalog.getModelOfType(key, modelId, 'llm');
    const upstream = this.#upstreamOfModel.get(model.id);
    if (upstream === undefined) throw new Error(`No upstream offers the model "${model.id}".`);
    return { model, upstream };
  }
}
