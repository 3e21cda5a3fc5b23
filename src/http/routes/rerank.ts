// POST /ai/v1/rerank: documents in the order of what they say to a query.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { InferenceService } from '../../services/inference/inference.ts';
import type { KeyRoom } from '../../services/key-room.ts';
import type { BodyIntake } from '../body-intake.ts';
import type { BodyLimits } from '../body-limits.ts';
import { callerOf } from '../caller.ts';
import { parseInferenceBodies } from '../inference-bodies.ts';
import type { TokenMetrics } from '../observe.ts';
import { operation } from '../operation.ts';
import { rerankReplySchema } from '../schemas/rerank-reply.ts';
import { rerankRequestExample } from '../schemas/rerank-request.ts';
import { rerankBodySchema, scoredTextsSchema } from '../schemas/texts-request.ts';
import { resultWriter, sendResult } from '../send-result.ts';

export interface RerankDeps {
  readonly inference: InferenceService;
  readonly metrics: TokenMetrics;
  readonly intake: BodyIntake;
  readonly bodyLimits: BodyLimits;
  readonly keyRoom?: KeyRoom | undefined;
  /** Whether replies say if their answer was shared. */
  readonly tellsSharing: boolean;
}

const replySchema = z
  .union([rerankReplySchema, scoredTextsSchema])
  .describe('A ranking, in the form that the request has.');

const schema = operation(
  {
    operationId: 'rerank',
    summary: 'Put documents in the order of their relevance',
    description: [
      'Every document is scored from the query and its own text alone: the same to the bit, beside others or alone.',
      'A request with `texts` instead of `documents` is answered with a bare list, as by text-embeddings-inference.',
      'Clients of Cohere, which append `/v2/rerank` to `…/ai`, are answered the same.',
    ].join(' '),
    tag: 'Inference',
    example: rerankRequestExample,
    takesDeadline: true,
    errors: [],
  },
  { body: rerankBodySchema, response: { 200: replySchema } },
);

export async function rerankRoute(api: FastifyInstance, deps: RerankDeps): Promise<void> {
  const { inference, metrics, tellsSharing } = deps;
  const bodies = { intake: deps.intake, limits: deps.bodyLimits, keyRoom: deps.keyRoom };
  parseInferenceBodies(api, { ...bodies, type: 'reranker', objects: 'plain' });
  api.withTypeProvider<ZodTypeProvider>().post('/rerank', { schema }, async (request, reply) => {
    const { request: asked, write } = request.body;
    const answered = await inference.rerank(asked, callerOf(request, reply), resultWriter(write));
    return sendResult(reply, answered, { metrics, tellsSharing });
  });
}
