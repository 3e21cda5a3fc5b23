// Prices on the wire of the admin routes. Every amount is dollars per 1,000,000 tokens, as an exact decimal text.

import { z } from 'zod';
import { MAX_MODEL_LENGTH, PRINTABLE_PATTERN } from '../../domain/field-rules.ts';
import { toInstant } from '../../domain/instant.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import { type DatedPrice, formatPrice, type Price } from '../../domain/money.ts';
import type { NewPrice } from '../../services/prices.ts';
import { instantField, instantReply } from './instant.ts';
import { priceField } from './money-field.ts';
import { listOf } from './paging.ts';
import { strictFields } from './strict-fields.ts';

const amount = z
  .string()
  .describe('US dollars per 1,000,000 tokens.')
  .meta({ examples: ['0.0378'] });
const amounts = {
  input_usd: amount.describe('US dollars per 1,000,000 tokens of input.'),
  cached_input_usd: amount.describe('The same of input that an upstream had cached.'),
  output_usd: amount.describe('US dollars per 1,000,000 tokens of output.'),
};

export const datedPriceSchema = z
  .object({
    object: z.literal('price').describe('What this is.'),
    model: z.string().describe('Id of the model.'),
    ...amounts,
    effective_from: instantReply.describe('From then on requests are billed by it.'),
    created_at: instantReply.describe('When it was set.'),
    created_by: z.string().describe('Id of a key, `command line`, or `server`.'),
  })
  .meta({ id: 'DatedPrice', description: 'A price of a model from a moment on, until a later one.' });

export const priceHistorySchema = listOf(datedPriceSchema, {
  id: 'PriceHistory',
  description: 'Prices that were, are and will be, by model, the latest first.',
});

export const setPriceSchema = datedPriceSchema
  .extend({ model_is_served: z.boolean().describe('Whether this server offers the model now.') })
  .meta({ id: 'SetPrice', description: 'The price that was set.' });

const currentPriceSchema = z
  .object({
    model: z.string().describe('Id of the model.'),
    type: z.enum(['llm', 'embedding', 'decision', 'reranker']).describe('What kind of model it is.'),
    ...amounts,
    source: z
      .enum(['set', 'own'])
      .describe('`set` by an administrator; `own`: of the model folder or the configuration.'),
    effective_from: instantReply.nullable().describe("null: the model's own price, from always."),
  })
  .meta({ id: 'CurrentPrice', description: 'What a model costs now.' });

export const currentPricesSchema = z
  .object({
    object: z.literal('list').describe('What this is.'),
    data: z.array(currentPriceSchema).describe('One for each model.'),
  })
  .meta({ id: 'CurrentPriceList', description: 'What every model of this server costs now.' });

export const newPriceSchema = strictFields('body', {
  model: z
    .string("The field 'model' must be a string.")
    .meta({ minLength: 1, maxLength: MAX_MODEL_LENGTH, pattern: PRINTABLE_PATTERN, description: 'Id of the model.' }),
  input_usd: priceField('input_usd').describe('US dollars per 1,000,000 tokens of input.'),
  cached_input_usd: priceField('cached_input_usd')
    .optional()
    .describe('Of input that an upstream had cached. Default: the price of input.'),
  output_usd: priceField('output_usd').describe('US dollars per 1,000,000 tokens of output.'),
  effective_from: instantField('effective_from')
    .optional()
    .describe('Not in the past. Default: now. At least 5 seconds ahead it takes effect on all servers at once.'),
}).meta({ id: 'NewPrice', description: 'A price of a model from a moment on.' });

export const newPriceExample = { model: 'kev', input_usd: '0.0378', output_usd: '0' };

export function toNewPrice(body: z.output<typeof newPriceSchema>): NewPrice {
  return {
    modelId: body.model,
    price: {
      inputMicroUsd: body.input_usd,
      cachedInputMicroUsd: body.cached_input_usd ?? body.input_usd,
      outputMicroUsd: body.output_usd,
    },
    effectiveFromMs: body.effective_from,
  };
}

export function toWirePrice(price: DatedPrice): z.output<typeof datedPriceSchema> {
  return {
    object: 'price',
    model: price.modelId,
    ...toAmounts(price.price),
    effective_from: toInstant(price.effectiveFromMs),
    created_at: toInstant(price.createdAtMs),
    created_by: price.createdBy,
  };
}

/** @param set the price in force, if one was set */
export function toWireCurrent(card: ModelCard, set: DatedPrice | undefined): z.output<typeof currentPriceSchema> {
  return {
    model: card.id,
    type: card.type,
    ...toAmounts(card.price),
    source: set === undefined ? 'own' : 'set',
    effective_from: toInstant(set?.effectiveFromMs ?? null),
  };
}

function toAmounts(price: Price): { input_usd: string; cached_input_usd: string; output_usd: string } {
  return {
    input_usd: formatPrice(price.inputMicroUsd),
    cached_input_usd: formatPrice(price.cachedInputMicroUsd),
    output_usd: formatPrice(price.outputMicroUsd),
  };
}
