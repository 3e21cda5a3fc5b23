// What the routes of all chat formats do alike: take the caller's own text of the body, ask the service, answer at once or as
// a stream.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ChatFormat, type ChatRequest, ENDPOINT_OF_FORMAT } from '../domain/chat.ts';
import type { ChatService } from '../services/chat/chat.ts';
import type { KeyRoom } from '../services/key-room.ts';
import { costHeaders, receiptHeaders, sendReplay, standingHeaders } from './accounting-headers.ts';
import type { BodyIntake, ReceivedBody } from './body-intake.ts';
import type { BodyLimits } from './body-limits.ts';
import { callerOf } from './caller.ts';
import { EVENT_STREAM_HEADERS, EVENT_STREAM_TYPE, EventStream, formatEventStream } from './event-stream.ts';
import { parseInferenceBodies } from './inference-bodies.ts';
import type { TokenMetrics } from './observe.ts';
import type { operation } from './operation.ts';
import { type ChatBody, toChatRequest } from './schemas/chat-completions.ts';
import { JSON_TYPE } from './send-result.ts';

export interface ChatRouteDeps {
  readonly chat: ChatService;
  readonly metrics: TokenMetrics;
  readonly intake: BodyIntake;
  readonly bodyLimits: BodyLimits;
  readonly keyRoom?: KeyRoom | undefined;
  /** A client that takes in nothing of a stream for that long is disconnected. */
  readonly writeTimeoutMs: number;
}

export interface ChatRoute {
  readonly format: ChatFormat;
  readonly schema: ReturnType<typeof operation>;
  /** Stands where the body was, once it is taken. */
  readonly emptyBody: ChatBody;
}

const PREFIX = '/ai/v1';

/** The caller's own text of each body: what is passed on. */
const receivedBodies = new WeakMap<FastifyRequest, ReceivedBody>();

export function registerChatRoute(
  api: FastifyInstance,
  deps: ChatRouteDeps,
  { format, schema, emptyBody }: ChatRoute,
): void {
  const adapt = (received: ReceivedBody, request: FastifyRequest): unknown => {
    receivedBodies.set(request, received);
    return received.value;
  };
  const { intake, bodyLimits: limits, keyRoom } = deps;
  parseInferenceBodies(api, { intake, limits, keyRoom, type: 'llm', objects: 'plain', listsMembers: true, adapt });
  api.post(ENDPOINT_OF_FORMAT[format].slice(PREFIX.length), { schema }, async (request, reply) => {
    const asked = takeChatRequest(request, format, emptyBody);
    await (asked.stream ? answerAsStream : answer)(asked, { request, reply, deps });
    return reply;
  });
}

/** Nothing else keeps the body from here on, so that it can be let go while the answer streams. */
function takeChatRequest(request: FastifyRequest, format: ChatFormat, emptyBody: ChatBody): ChatRequest {
  // As its schema has checked it.
  const body = request.body as ChatBody;
  const { text: bodyText = '', members: bodyMembers = [] } = receivedBodies.get(request) ?? {};
  receivedBodies.delete(request);
  request.body = emptyBody;
  return toChatRequest({ format, body, bodyText, bodyMembers, onLetGo: () => request.bodyPlace?.release() });
}

interface ChatRouteCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly deps: ChatRouteDeps;
}

async function answer(asked: ChatRequest, { request, reply, deps }: ChatRouteCall): Promise<void> {
  const { chat, metrics } = deps;
  const answered = await chat.complete(asked, callerOf(request, reply), (body, head) => ({
    contentType: JSON_TYPE,
    body,
    headers: { ...upstreamHeaders(head.upstream), ...costHeaders(head.costPicoUsd) },
  }));
  if (answered.type === 'replayed') {
    sendReplay(reply, answered.reply);
    return;
  }
  const { model, usage, upstream, receipt } = answered;
  if (usage !== undefined) metrics.countTokens(model.id, usage);
  request.billedWork = { modelId: model.id, usage, costPicoUsd: receipt.costPicoUsd };
  reply
    .headers({ ...upstreamHeaders(upstream), ...receiptHeaders(receipt) })
    .type(JSON_TYPE)
    .send(answered.bodyText);
}

async function answerAsStream(asked: ChatRequest, { request, reply, deps }: ChatRouteCall): Promise<void> {
  const { chat, metrics, writeTimeoutMs } = deps;
  const events = new EventStream(request, reply, writeTimeoutMs);
  const hasDone = asked.format !== 'responses';
  const ended = await chat.stream(asked, callerOf(request, reply), {
    begin: (standing, upstream) => {
      reply.headers({ ...upstreamHeaders(upstream), ...standingHeaders(standing) });
      events.begin();
    },
    take: (chunk) => events.send(chunk),
    keep: (chunks, { upstream, costPicoUsd }) => ({
      contentType: EVENT_STREAM_TYPE,
      body: formatEventStream(chunks, hasDone),
      headers: { ...EVENT_STREAM_HEADERS, ...upstreamHeaders(upstream), ...costHeaders(costPicoUsd) },
    }),
  });
  if (ended.type === 'replayed') {
    sendReplay(reply, ended.reply);
    return;
  }
  const { model, usage, receipt } = ended;
  if (usage !== undefined) metrics.countTokens(model.id, usage);
  request.billedWork = { modelId: model.id, usage, costPicoUsd: receipt?.costPicoUsd };
  if (ended.failure === undefined) events.end(hasDone);
  else events.breakOff(ended.failure);
}

/** Which one it was, of those that the model has. */
function upstreamHeaders(name: string | undefined): Record<string, string> {
  return name === undefined ? {} : { 'x-umpire-upstream': name };
}
