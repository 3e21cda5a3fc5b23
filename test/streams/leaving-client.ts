// A client of chat on a bare connection, which it destroys where its order says so. Keeps what it saw.

import { type Agent, type IncomingMessage, request } from 'node:http';
import { PROMPT, type StreamOrder } from './stream-order.ts';

export interface ClientRecord {
  readonly order: StreamOrder;
  /** undefined: not even a head. */
  status: number | undefined;
  isReplay: boolean;
  /** As told by a header; replays have it. */
  costUsd: string | undefined;
  text: string;
  /** Whether the client destroyed the connection. */
  hasLeft: boolean;
}

export interface ServerAccess {
  readonly address: string;
  readonly secrets: readonly string[];
  /** Kept-alive connections of all clients. */
  readonly agent: Agent;
}

/** Resolves when the reply or the connection has ended. */
export function ask(
  order: StreamOrder,
  { address, secrets, agent }: ServerAccess,
  requestId = order.plan.id,
): Promise<ClientRecord> {
  const record: ClientRecord = {
    order,
    status: undefined,
    isReplay: false,
    costUsd: undefined,
    text: '',
    hasLeft: false,
  };
  const { promise, resolve } = Promise.withResolvers<ClientRecord>();
  const { cut, idempotencyKey } = order;
  const call = request(`${address}/ai/v1/chat/completions`, {
    method: 'POST',
    agent,
    headers: {
      authorization: `Bearer ${secrets[order.keyIndex]}`,
      'content-type': 'application/json',
      'x-request-id': requestId,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
  });
  const leave = (): void => {
    record.hasLeft = true;
    call.destroy();
  };
  const timer = cut?.at === 'time' ? setTimeout(leave, cut.afterMs) : undefined;
  const end = (): void => {
    clearTimeout(timer);
    resolve(record);
  };
  call.once('error', end).once('response', (reply: IncomingMessage) => {
    record.status = reply.statusCode;
    record.isReplay = reply.headers['idempotent-replayed'] === 'true';
    record.costUsd = reply.headers['x-umpire-cost-usd']?.toString();
    reply.once('close', end).on('error', () => undefined);
    if (cut?.at === 'head') return leave();
    reply.setEncoding('utf8').on('data', (text: string) => {
      record.text += text;
      if (cut?.at === 'text' && !record.hasLeft && textsSeen(record) >= cut.after) leave();
    });
  });
  call.end(bodyOf(order));
  return promise;
}

export function textsSeen({ text }: ClientRecord): number {
  return text.split('"content":"words "').length - 1;
}

export function sawDone({ text }: ClientRecord): boolean {
  return text.endsWith('data: [DONE]\n\n');
}

function bodyOf({ policy, plan }: StreamOrder): string {
  return JSON.stringify({ model: policy, messages: [{ role: 'user', content: PROMPT }], stream: true, plan });
}
