// POST /ai/v1/responses: the format of responses, with the models of the upstreams, at once or as a stream.

import type { FastifyInstance } from 'fastify';
import { type ChatRouteDeps, registerChatRoute } from '../chat-route.ts';
import { operation } from '../operation.ts';
import { responseReplySchema, responseRequestExample, responseRequestSchema } from '../schemas/responses.ts';

const schema = operation(
  {
    operationId: 'respond',
    summary: 'Have a language model respond',
    description: [
      'The upstream of the model is sent the request as it came, under its own name of the model, where its configuration',
      'says that it serves this format; otherwise it is a 400 `model_type_mismatch`.',
    ].join(' '),
    tag: 'Inference',
    example: responseRequestExample,
    eventStream: [
      'With `stream: true`: the events of the format, under their names. A failure once the stream has begun is an event',
      'without a name that holds the error body; no `response.completed` follows.',
    ].join(' '),
    errors: ['upstream_error', 'upstream_timeout'],
    takesDeadline: true,
  },
  { body: responseRequestSchema, response: { 200: responseReplySchema } },
);

export async function responsesRoute(api: FastifyInstance, deps: ChatRouteDeps): Promise<void> {
  registerChatRoute(api, deps, { format: 'responses', schema, emptyBody: { model: '', input: '' } });
}
