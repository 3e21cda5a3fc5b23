// /admin/v1/prices: what models cost, what they cost before and will cost, and new prices.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { Catalog } from '../../services/catalog.ts';
import type { PriceService } from '../../services/prices.ts';
import { keyOf } from '../authenticate.ts';
import { operation } from '../operation.ts';
import {
  currentPricesSchema,
  newPriceExample,
  newPriceSchema,
  priceHistorySchema,
  setPriceSchema,
  toNewPrice,
  toWireCurrent,
  toWirePrice,
} from '../schemas/admin-price.ts';
import { limitParameter, numberCursor, parseOffset } from '../schemas/paging.ts';
import { filterText, strictFields } from '../schemas/strict-fields.ts';

export interface AdminPricesDeps {
  readonly prices: PriceService;
  readonly catalog: Catalog;
}

const tag = 'Administration';

const currentSchema = operation(
  {
    operationId: 'listPrices',
    summary: 'What every model costs now',
    description: 'The price that was set last, or the own one of the model.',
    tag,
    errors: ['invalid_request'],
  },
  { querystring: strictFields('query', {}), response: { 200: currentPricesSchema } },
);

const historySchema = operation(
  {
    operationId: 'listPriceHistory',
    summary: 'Prices that were, are and will be',
    description: 'Those that were set; the own prices of models are not among them.',
    tag,
    errors: ['invalid_request'],
  },
  {
    querystring: strictFields('query', {
      model: filterText('model').optional().describe('Of this model alone.'),
      limit: limitParameter,
      cursor: numberCursor,
    }),
    response: { 200: priceHistorySchema },
  },
);

const setSchema = operation(
  {
    operationId: 'setPrice',
    summary: 'Set the price of a model from now or a later moment on',
    description: [
      'A price is never changed: a later one replaces it from its moment on, and a request keeps the price that it was',
      'accepted at. The model need not exist yet; the reply says whether it does.',
    ].join(' '),
    tag,
    example: newPriceExample,
    errors: ['conflict'],
  },
  { body: newPriceSchema, response: { 201: setPriceSchema } },
);

export async function adminPriceRoutes(api: FastifyInstance, { prices, catalog }: AdminPricesDeps): Promise<void> {
  const typed = api.withTypeProvider<ZodTypeProvider>();

  typed.get('/prices', { schema: currentSchema }, async () => {
    const data = catalog.all().map((card) => toWireCurrent(card, prices.findCurrent(card.id)));
    return { object: 'list' as const, data };
  });

  typed.get('/prices/history', { schema: historySchema }, async ({ query }) => {
    const all = await prices.list();
    const found = query.model === undefined ? all : all.filter(({ modelId }) => modelId === query.model);
    const offset = parseOffset(query.cursor);
    const end = offset + query.limit;
    return {
      object: 'list' as const,
      data: found.slice(offset, end).map(toWirePrice),
      next_cursor: end < found.length ? String(end) : null,
    };
  });

  typed.post('/prices', { schema: setSchema }, async (request, reply) => {
    const price = await prices.set(toNewPrice(request.body), keyOf(request).id);
    return reply.code(201).send({ ...toWirePrice(price), model_is_served: catalog.has(price.modelId) });
  });
}
