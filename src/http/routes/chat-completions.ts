// POST /ai/v1/chat/completions: chat with the models of the upstreams, at once or as a stream.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { ChatRequest } from '../../domain/chat.ts';
import type { ChatService } from '../../services/chat/chat.ts';
import type { KeyRoom } from '../../services/key-room.ts';
import { costHeaders, receiptHeaders, sendReplay, standingHeaders } from '../accounting-headers.ts';
import type { BodyIntake, ReceivedBody } from '../body-intake.ts';
import type { BodyLimits } from '../body-limits.ts';
import { callerOf } from '../caller.ts';
import { EVENT_STREAM_HEADERS, EVENT_STREAM_TYPE, EventStream, formatEventStream } from '../event-stream.ts';
import { parseInferenceBodies } from '../inference-bodies.ts';
import type { TokenMetrics } from '../observe.ts';
import { operation } from '../operation.ts';
import { chatReplySchema, chatRequestExample, chatRequestSchema, toChatRequest } from '../schemas/chat-completions.ts';
import { JSON_TYPE } from '../send-result.ts';

export interface ChatCompletionsDeps {
  readonly chat: ChatService;
  readonly metrics: TokenMetrics;
  readonly intake: BodyIntake;
  readonly bodyLimits: BodyLimits;
  readonly keyRoom?: KeyRoom | undefined;
  /** A client that takes in nothing of a stream for that long is disconnected. */
  readonly writeTimeoutMs: number;
}

const schema = operation(
  {
    operationId: 'chat',
    summary: 'Chat with a language model',
    description: [
      'The upstream of the model is sent the request as it came, under its own name of the model. A mistake in the',
      'request that the upstream finds is a 400 with its message.',
    ].join(' '),
    tag: 'Inference',
    example: chatRequestExample,
    eventStream: [
      'With `stream: true`: each event holds a chunk of the format (`chat.completion.chunk`), the last one is',
      '`data: [DONE]`. A failure once the stream has begun is an event that holds the error body; no `[DONE]` follows.',
    ].join(' '),
    errors: ['upstream_error', 'upstream_timeout'],
    takesDeadline: true,
  },
  { body: chatRequestSchema, response: { 200: chatReplySchema } },
);

const NO_BODY = { model: '', messages: [] };

/** The caller's own text of each body: what is passed on. */
const receivedBodies = new WeakMap<FastifyRequest, ReceivedBody>();

export async function chatCompletionsRoute(api: FastifyInstance, deps: ChatCompletionsDeps): Promise<void> {
  const adapt = (received: ReceivedBody, request: FastifyRequest): unknown => {
    receivedBodies.set(request, received);
    return received.value;
  };
  const bodies = { intake: deps.intake, limits: deps.bodyLimits, keyRoom: deps.keyRoom };
  parseInferenceBodies(api, {
    ...bodies,
    type: 'llm',
    objects: 'plain',
    listsMembers: true,
    adapt,
  });
  api.withTypeProvider<ZodTypeProvider>().post('/chat/completions', { schema }, async (request, reply) => {
    const asked = takeChatRequest(request);
    await (asked.stream ? answerAsStream : answer)(asked, { request, reply, deps });
    return reply;
  });
}

/** Nothing else keeps the body from here on, so that it can be let go while the answer streams. */
function takeChatRequest(request: FastifyRequest<{ Body: z.output<typeof chatRequestSchema> }>): ChatRequest {
  const { body } = request;
  const { text: bodyText = '', members: bodyMembers = [] } = receivedBodies.get(request) ?? {};
  receivedBodies.delete(request);
  request.body = NO_BODY;
  return toChatRequest({ body, bodyText, bodyMembers, onLetGo: () => request.bodyPlace?.release() });
}

interface ChatRouteCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly deps: ChatCompletionsDeps;
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
  const ended = await chat.stream(asked, callerOf(request, reply), {
    begin: (standing, upstream) => {
      reply.headers({ ...upstreamHeaders(upstream), ...standingHeaders(standing) });
      events.begin();
    },
    take: (chunk) => events.send(chunk),
    keep: (chunks, { upstream, costPicoUsd }) => ({
      contentType: EVENT_STREAM_TYPE,
      body: formatEventStream(chunks),
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
  if (ended.failure === undefined) events.end();
  else events.breakOff(ended.failure);
}

/** Which one it was, of those that the model has. */
function upstreamHeaders(name: string | undefined): Record<string, string> {
  return name === undefined ? {} : { 'x-umpire-upstream': name };
}
