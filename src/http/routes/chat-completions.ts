// POST /ai/v1/chat/completions: chat with the models of the upstreams, at once or as a stream.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ChatRequest, ChatService } from '../../services/chat.ts';
import { sendEventStream } from '../event-stream.ts';
import { parsePlainBody } from '../json-body.ts';
import type { TokenCounter } from '../observe.ts';
import { operation } from '../operation.ts';
import { requesterOf } from '../requester.ts';
import { chatReplySchema, chatRequestExample, chatRequestSchema, toChatRequest } from '../schemas/chat-completions.ts';

export interface ChatCompletionsDeps {
  readonly chat: ChatService;
  readonly metrics: TokenCounter;
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
  },
  { body: chatRequestSchema, response: { 200: chatReplySchema } },
);

/** The caller's own text of each body: what is passed on. */
const bodyTexts = new WeakMap<FastifyRequest, string>();

export async function chatCompletionsRoute(api: FastifyInstance, deps: ChatCompletionsDeps): Promise<void> {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const value = parsePlainBody(body);
    bodyTexts.set(request, body.toString());
    return value;
  });
  api.withTypeProvider<ZodTypeProvider>().post('/chat/completions', { schema }, async (request, reply) => {
    await answer(toChatRequest(request.body, bodyTexts.get(request) ?? ''), { request, reply, deps });
    return reply;
  });
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly deps: ChatCompletionsDeps;
}

async function answer(asked: ChatRequest, { request, reply, deps }: Exchange): Promise<void> {
  const { metrics, writeTimeoutMs } = deps;
  const requester = requesterOf(request, reply);
  if (!asked.stream) {
    const { model, bodyText, usage } = await deps.chat.complete(asked, requester);
    if (usage !== undefined) metrics.countTokens(model.id, usage);
    reply.type('application/json; charset=utf-8').send(bodyText);
    return;
  }
  const stream = await deps.chat.stream(asked, requester);
  await sendEventStream(request, reply, { chunks: stream.chunks, writeTimeoutMs });
  const usage = stream.usage();
  if (usage !== undefined) metrics.countTokens(stream.model.id, usage);
}
