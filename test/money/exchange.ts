// One request of a paying client, and what its reply says of its cost.

import { findPicoUsd } from '../../src/domain/money.ts';
import { CHAT_MODEL, CHAT_PRICE } from './counting-upstream.ts';
import { DECISION_MODEL, EMBEDDING_MODEL, RERANKER_MODEL } from './priced-models.ts';

export type Kind = 'decision' | 'embedding' | 'ranking' | 'chat' | 'stream';

export interface Order {
  /** Sent as `x-request-id`, and so in the row. */
  readonly requestId: string;
  readonly kind: Kind;
  /** A number that makes texts, and thus costs, differ. */
  readonly words: number;
  readonly keyId: string;
  readonly secret: string;
  readonly idempotencyKey?: string;
}

export interface Answer {
  readonly order: Order;
  readonly status: number;
  /** undefined where the reply tells none. */
  readonly costPicoUsd: bigint | undefined;
  readonly isReplay: boolean;
  readonly headers: Headers;
  readonly text: string;
}

/** The server is gone; nothing was sent. */
export class NobodyListensError extends Error {
  override readonly name = 'NobodyListensError';
}

const PATHS: Readonly<Record<Kind, string>> = {
  decision: 'systemone',
  embedding: 'embeddings',
  ranking: 'rerank',
  chat: 'chat/completions',
  stream: 'chat/completions',
};

/**
 * @param leave aborted when the client leaves
 * @returns undefined when the connection ended before the reply was complete
 * @throws NobodyListensError
 */
export async function exchange(address: string, order: Order, leave?: AbortSignal): Promise<Answer | undefined> {
  const { requestId, secret, idempotencyKey } = order;
  const headers = {
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
    'x-request-id': requestId,
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  try {
    const url = `${address}/ai/v1/${PATHS[order.kind]}`;
    const signal = leave ?? null;
    const reply = await fetch(url, { method: 'POST', headers, body: bodyOf(order), signal });
    const text = await reply.text();
    // The page of a proxy whose server gave no answer, or was gone in the middle of it.
    if (reply.headers.get('content-type') === 'text/html') return undefined;
    const isComplete = order.kind !== 'stream' || reply.status !== 200 || text.endsWith('data: [DONE]\n\n');
    if (!isComplete) return undefined;
    const isReplay = reply.headers.get('idempotent-replayed') === 'true';
    const costPicoUsd = reply.status === 200 ? costOf(order.kind, reply.headers, text) : undefined;
    return { order, status: reply.status, costPicoUsd, isReplay, headers: reply.headers, text };
  } catch (error) {
    if (isRefused(error)) throw new NobodyListensError();
    return undefined;
  }
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}

/** How the texts of all orders begin: like nothing that a log could hold for another reason. */
export const ORDER_TEXTS = [
  'quokka the order of the customer is late. ',
  'is the quokka late?',
  'A wallaby is early.',
] as const;
const [TEXT, QUESTION, OTHER_TEXT] = ORDER_TEXTS;

function bodyOf({ kind, words }: Order): string {
  const text = TEXT.repeat(words);
  if (kind === 'decision') {
    const questions = { q: { type: 'noul', instructions: QUESTION } };
    return JSON.stringify({ model: DECISION_MODEL, state: text, questions });
  }
  if (kind === 'embedding') return JSON.stringify({ model: EMBEDDING_MODEL, input: text.slice(0, 20 + words) });
  if (kind === 'ranking') {
    const documents = [text.slice(0, 20 + words), OTHER_TEXT];
    return JSON.stringify({ model: RERANKER_MODEL, query: QUESTION, documents });
  }
  const messages = [{ role: 'user', content: text }];
  const stream = kind === 'stream' ? { stream: true, stream_options: { include_usage: true } } : {};
  return JSON.stringify({ model: CHAT_MODEL, messages, ...stream });
}

function costOf(kind: Kind, headers: Headers, text: string): bigint | undefined {
  if (kind !== 'stream') return findPicoUsd(headers.get('x-umpire-cost-usd') ?? '');
  // Headers go before the tokens are known: the client counts for itself.
  const usage = /"usage":\{"prompt_tokens":(\d+),"completion_tokens":(\d+)/.exec(text);
  if (usage === null) return undefined;
  return BigInt(usage[1] ?? '') * BigInt(CHAT_PRICE.input) + BigInt(usage[2] ?? '') * BigInt(CHAT_PRICE.output);
}
