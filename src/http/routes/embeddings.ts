// POST /ai/v1/embeddings: vectors for texts.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { EmbedService } from '../../services/embed.ts';
import type { TokenCounter } from '../observe.ts';
import { operation } from '../operation.ts';
import { requesterOf } from '../requester.ts';
import { embeddingReplySchema, writeEmbeddings } from '../schemas/embedding-reply.ts';
import { embeddingRequestExample, embeddingRequestSchema, toEmbeddingRequest } from '../schemas/embedding-request.ts';
import { resultWriter, sendResult } from '../send-result.ts';

export interface EmbeddingsDeps {
  readonly embeddings: EmbedService;
  readonly metrics: TokenCounter;
}

const schema = operation(
  {
    operationId: 'embed',
    summary: 'Turn texts into vectors',
    tag: 'Inference',
    example: embeddingRequestExample,
    errors: [],
  },
  { body: embeddingRequestSchema, response: { 200: embeddingReplySchema } },
);

const writer = resultWriter(writeEmbeddings);

export async function embeddingsRoute(api: FastifyInstance, { embeddings, metrics }: EmbeddingsDeps): Promise<void> {
  api.withTypeProvider<ZodTypeProvider>().post('/embeddings', { schema }, async (request, reply) => {
    const asked = toEmbeddingRequest(request.body);
    const answered = await embeddings.embed(asked, requesterOf(request, reply), writer);
    return sendResult(reply, answered, metrics);
  });
}
