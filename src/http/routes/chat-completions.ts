// POST /ai/v1/chat/completions: chat with the models of the upstreams, at once or as a stream.

import type { FastifyInstance } from 'fastify';
import { type ChatRouteDeps, registerChatRoute } from '../chat-route.ts';
import { operation } from '../operation.ts';
import { chatReplySchema, chatRequestExample, chatRequestSchema } from '../schemas/chat-completions.ts';

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

export async function chatCompletionsRoute(api: FastifyInstance, deps: ChatRouteDeps): Promise<void> {
  registerChatRoute(api, deps, { format: 'chat', schema, emptyBody: { model: '', messages: [] } });
}
