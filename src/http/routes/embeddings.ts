// POST /ai/v1/embeddings: vectors for texts.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { EmbedService } from '../../services/embed.ts';
import type { TokenCounter } from '../observe.ts';
import { operation } from '../operation.ts';
import { requesterOf } from '../requester.ts';
import { embeddingReplySchema, writeEmbeddings } from '../schemas/embedding-reply.ts';
import { embeddingRequestExample, embeddingRequestSchema, toEmbeddingRequest } from '../schemas/embedding-request.ts';
import { sendResult } from '../send-result.ts';

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

export async function embeddingsRoute(api: FastifyInstance, { embeddings, metrics }: EmbeddingsDeps): Promise<void> {
  api.withTypeProvider<ZodTypeProvider>().post('/embeddings', { schema }, async (request, reply) => {
    const result = await embeddings.embed(toEmbeddingRequest(request.body), requesterOf(request, reply));
    metrics.countTokens(result.model.id, result.usage);
    return sendResult(reply, result, await writeEmbeddings(result));
  });
}
