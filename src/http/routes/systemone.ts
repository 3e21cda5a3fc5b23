// POST /ai/v1/systemone: questions about a document. Parses with the ordered parser, because names are data.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { JsonValue } from '../../domain/json.ts';
import type { InferenceService } from '../../services/inference/inference.ts';
import type { KeyRoom } from '../../services/key-room.ts';
import type { BodyIntake, ReceivedBody } from '../body-intake.ts';
import type { BodyLimits } from '../body-limits.ts';
import { callerOf } from '../caller.ts';
import { parseInferenceBodies } from '../inference-bodies.ts';
import type { TokenMetrics } from '../observe.ts';
import { operation } from '../operation.ts';
import { decisionReplySchema, writeDecision } from '../schemas/decision-reply.ts';
import { decisionRequestExample, decisionRequestSchema, toDecisionRequest } from '../schemas/decision-request.ts';
import { withStateAsText } from '../schemas/structured-state.ts';
import { resultWriter, sendResult } from '../send-result.ts';

export interface SystemoneDeps {
  readonly inference: InferenceService;
  readonly metrics: TokenMetrics;
  readonly intake: BodyIntake;
  readonly bodyLimits: BodyLimits;
  readonly keyRoom?: KeyRoom | undefined;
  /** Whether replies say if their answer was shared. */
  readonly tellsSharing: boolean;
  /** Whether `state` may be an object or array, which is then read as labelled lines. */
  readonly structuredState: boolean;
}

const schema = operation(
  {
    operationId: 'decide',
    summary: 'Answer questions about a document',
    description: [
      'Every answer is computed from `state` and its own question alone: the same question gives the same answer beside',
      'others or alone. The header `x-umpire-model-digest` names the weights that answered.',
    ].join(' '),
    tag: 'Inference',
    example: decisionRequestExample,
    takesDeadline: true,
    errors: [],
  },
  { body: decisionRequestSchema, response: { 200: decisionReplySchema } },
);

const writer = resultWriter(writeDecision);

export async function systemoneRoute(api: FastifyInstance, deps: SystemoneDeps): Promise<void> {
  const { inference, metrics, tellsSharing, structuredState } = deps;
  const adapt = ({ value }: ReceivedBody) => (structuredState ? withStateAsText(value as JsonValue) : value);
  const bodies = { intake: deps.intake, limits: deps.bodyLimits, keyRoom: deps.keyRoom };
  parseInferenceBodies(api, { ...bodies, type: 'decision', objects: 'maps', adapt });
  api.withTypeProvider<ZodTypeProvider>().post('/systemone', { schema }, async (request, reply) => {
    const asked = toDecisionRequest(request.body);
    const answered = await inference.decide(asked, callerOf(request, reply), writer);
    return sendResult(reply, answered, { metrics, tellsSharing });
  });
}
