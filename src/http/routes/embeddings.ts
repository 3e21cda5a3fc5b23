// POST /ai/v1/embeddings: vectors for texts.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { InferenceService } from '../../services/inference/inference.ts';
import type { KeyRoom } from '../../services/key-room.ts';
import type { BodyIntake } from '../body-intake.ts';
import type { BodyLimits } from '../body-limits.ts';
import { callerOf } from '../caller.ts';
import { EMBEDDINGS_COMPRESSION } from '../compress-replies.ts';
import { parseInferenceBodies } from '../inference-bodies.ts';
import type { TokenMetrics } from '../observe.ts';
import { type OperationDocs, operation } from '../operation.ts';
import { embeddingReplySchema, writeEmbeddings } from '../schemas/embedding-reply.ts';
import {
  buildEmbeddingRequestSchema,
  embeddingRequestExample,
  type TokenArrays,
  toEmbeddingRequest,
} from '../schemas/embedding-request.ts';
import { resultWriter, sendResult } from '../send-result.ts';

export interface EmbeddingsDeps {
  readonly inference: InferenceService;
  readonly metrics: TokenMetrics;
  readonly intake: BodyIntake;
  readonly bodyLimits: BodyLimits;
  readonly keyRoom?: KeyRoom | undefined;
  /** Whether replies say if their answer was shared. */
  readonly tellsSharing: boolean;
  readonly tokenArrays: TokenArrays;
}

const docs: OperationDocs = {
  operationId: 'embed',
  summary: 'Turn texts into vectors',
  description: 'The same text has the same vector to the bit, beside others or alone.',
  tag: 'Inference',
  example: embeddingRequestExample,
  takesDeadline: true,
  errors: [],
};

const writer = resultWriter(writeEmbeddings);

export async function embeddingsRoute(api: FastifyInstance, deps: EmbeddingsDeps): Promise<void> {
  const { inference, metrics, tellsSharing, tokenArrays } = deps;
  const bodies = { intake: deps.intake, limits: deps.bodyLimits, keyRoom: deps.keyRoom };
  parseInferenceBodies(api, { ...bodies, type: 'embedding', objects: 'plain' });
  const body = buildEmbeddingRequestSchema(tokenArrays);
  const schema = operation(docs, { body, response: { 200: embeddingReplySchema } });
  api
    .withTypeProvider<ZodTypeProvider>()
    .post('/embeddings', { schema, compress: EMBEDDINGS_COMPRESSION }, async (request, reply) => {
      const asked = toEmbeddingRequest(request.body);
      const answered = await inference.embed(asked, callerOf(request, reply), writer);
      return sendResult(reply, answered, { metrics, tellsSharing });
    });
}
