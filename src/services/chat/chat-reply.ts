// What a chat call is answered with, whole, streamed or replayed, and how a route words what is kept of it.

import type { Standing } from '../../domain/ledger.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { ChatChunk, ChatUsage } from '../../upstream/chat-upstream.ts';
import type { Receipt, StoredReply } from '../accounting/accounting.ts';
import type { Requester } from '../requester.ts';

export type { ChatChunk } from '../../upstream/chat-upstream.ts';

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
  readonly usage: ChatUsage | undefined;
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
  readonly usage: ChatUsage | undefined;
}
