// /admin/v1/models: models learned from labelled rows; ordered, watched, cancelled and removed.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Catalog } from '../../services/catalog.ts';
import type { LearningService } from '../../services/learning/learning.ts';
import { parseAdminBodies } from '../admin-body.ts';
import { keyOf } from '../authenticate.ts';
import type { BodyIntake } from '../body-intake.ts';
import type { BodyLimits } from '../body-limits.ts';
import { operation } from '../operation.ts';
import { newModelExample, newModelSchema, toNewLearning } from '../schemas/admin-model.ts';
import {
  administeredModelSchema,
  administeredModelsSchema,
  removalSchema,
  toWireAdministered,
  toWireAdministeredList,
} from '../schemas/learning-job.ts';
import { strictFields } from '../schemas/strict-fields.ts';

const tag = 'Administration';
const params = z.object({ id: z.string().describe('Id of a learned model.') });
const DEFAULT_BASE = 'kev';

const listSchema = operation(
  {
    operationId: 'listLearnedModels',
    summary: 'Models that were learned, or are being learned',
    description: 'Of the server that answers, with the last job of each. Reports are left out.',
    tag,
    errors: [],
  },
  { querystring: strictFields('query', {}), response: { 200: administeredModelsSchema } },
);

const learnSchema = operation(
  {
    operationId: 'learnModel',
    summary: 'Learn a model from labelled rows',
    description: [
      'The reply comes when the rows are checked; then they are learned from in a process of its own, at the lowest priority',
      'and one model at a time. Ask for the model by its id to see how it goes. A model of this id that was learned before is',
      'replaced at the end, at once for all requests, and stays in force if anything goes wrong.',
    ].join(' '),
    tag,
    example: newModelExample,
    errors: ['conflict', 'model_not_found', 'model_not_allowed', 'model_type_mismatch'],
  },
  { body: newModelSchema, response: { 202: administeredModelSchema } },
);

const getSchema = operation(
  {
    operationId: 'getLearnedModel',
    summary: 'Describe a learned model and its last job',
    description: 'State, progress, and what was found. Ask every second or two while it is learned.',
    tag,
    errors: ['model_not_found'],
  },
  { params, response: { 200: administeredModelSchema } },
);

const removeSchema = operation(
  {
    operationId: 'removeLearnedModel',
    summary: 'Remove a learned model, or cancel its learning',
    description: [
      'While the model is being learned, that is cancelled, and the model that was there stays. Otherwise it is removed:',
      'from then on requests for it are refused.',
    ].join(' '),
    tag,
    errors: ['model_not_found', 'conflict'],
  },
  { params, response: { 200: removalSchema } },
);

export interface AdminModelsDeps {
  readonly learning: LearningService;
  readonly catalog: Catalog;
  readonly intake: BodyIntake;
  /** Rows are larger than whatever else an administrator sends. */
  readonly bodyLimits: BodyLimits;
}

export async function adminModelRoutes(api: FastifyInstance, deps: AdminModelsDeps): Promise<void> {
  const { learning, catalog, intake, bodyLimits } = deps;
  parseAdminBodies(api, intake, bodyLimits);
  const typed = api.withTypeProvider<ZodTypeProvider>();

  typed.get('/models', { schema: listSchema }, async () => toWireAdministeredList(learning.list()));

  typed.post('/models', { schema: learnSchema }, async (request, reply) => {
    const { body } = request;
    const key = keyOf(request);
    const named = body.model ?? (body.more ? undefined : DEFAULT_BASE);
    // An alias stands for its model; whoever may not ask the base learns nothing from it either.
    const base = named === undefined ? undefined : catalog.getModelOfType(key, named, 'decision').id;
    const job = await learning.learn(toNewLearning(body, base), key.id);
    return reply
      .code(202)
      .header('location', `/admin/v1/models/${job.modelId}`)
      .send(toWireAdministered(learning.get(job.modelId)));
  });

  typed.get('/models/:id', { schema: getSchema }, async ({ params: { id } }) => toWireAdministered(learning.get(id)));

  typed.delete('/models/:id', { schema: removeSchema }, async (request) => {
    const { id } = request.params;
    const outcome = await learning.remove(id, keyOf(request).id);
    return { object: 'learned_model_removal' as const, id, outcome };
  });
}
