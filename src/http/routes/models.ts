// GET /ai/v1/models and /ai/v1/models/{id}: the models that the calling key may use.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Catalog } from '../../services/catalog.ts';
import { keyOf } from '../authenticate.ts';
import { operation } from '../operation.ts';
import { modelDetailsSchema, toWireModelDetails } from '../schemas/model-details.ts';
import { modelListSchema, toWireModelList } from '../schemas/models-reply.ts';

const listSchema = operation(
  {
    operationId: 'listModels',
    summary: 'List the models of this key',
    description: 'In the form of the chat format (`data`) and in that of the decision format (`models`).',
    tag: 'Models',
    errors: [],
  },
  { response: { 200: modelListSchema } },
);

const getSchema = operation(
  {
    operationId: 'getModel',
    summary: 'Describe one model',
    description: 'What it is, what it costs, what it takes; of a learned model what it has learned, and how well.',
    tag: 'Models',
    errors: ['model_not_found', 'model_not_allowed', 'model_unavailable'],
  },
  { params: z.object({ id: z.string().describe('Id of a model.') }), response: { 200: modelDetailsSchema } },
);

export async function modelsRoutes(api: FastifyInstance, { catalog }: { readonly catalog: Catalog }): Promise<void> {
  const typed = api.withTypeProvider<ZodTypeProvider>();
  typed.get('/models', { schema: listSchema }, async (request) => toWireModelList(catalog.list(keyOf(request))));
  typed.get('/models/:id', { schema: getSchema }, async (request) =>
    toWireModelDetails(catalog.describe(keyOf(request), request.params.id)),
  );
}
