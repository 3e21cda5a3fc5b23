// POST /ai/v1/completions: texts that the models of the upstreams continue, at once or as a stream.

import type { FastifyInstance } from 'fastify';
import { type ChatRouteDeps, registerChatRoute } from '../chat-route.ts';
import { operation } from '../operation.ts';
import { completionReplySchema, completionRequestExample, completionRequestSchema } from '../schemas/completions.ts';

const schema = operation(
  {
    operationId: 'complete',
    summary: 'Continue a text with a language model',
    description: [
      'The upstream of the model is sent the request as it came, under its own name of the model, where its configuration',
      'says that it serves this format; otherwise it is a 400 `model_type_mismatch`.',
    ].join(' '),
    tag: 'Inference',
    example: completionRequestExample,
    eventStream: [
      'With `stream: true`: each event holds a chunk of the format, the last one is `data: [DONE]`. A failure once the stream',
      'has begun is an event that holds the error body; no `[DONE]` follows.',
    ].join(' '),
    errors: ['upstream_error', 'upstream_timeout'],
    takesDeadline: true,
  },
  { body: completionRequestSchema, response: { 200: completionReplySchema } },
);

export async function completionsRoute(api: FastifyInstance, deps: ChatRouteDeps): Promise<void> {
  registerChatRoute(api, deps, { format: 'completions', schema, emptyBody: { model: '', prompt: '' } });
}
