// The replies of GET /ai/v1/models and /ai/v1/models/{id}: one body that the chat-format SDK reads (`data`) and the
// decision SDK too (`models`).

import { z } from 'zod';
import type { ModelCard } from '../../domain/model-card.ts';
import { toUsdPerMillionTokens } from '../../domain/money.ts';

const releaseDate = z.string().meta({ format: 'date', description: 'When these weights came out.' });

const modelPrice = z
  .object({
    input: z.number().min(0).describe('Of what is read.'),
    output: z.number().min(0).describe('Of what is written.'),
  })
  .meta({ id: 'ModelPrice', description: 'US dollars per 1,000,000 tokens.' });

export const modelSchema = z
  .object({
    id: z.string().describe('What a request names in `model`.'),
    object: z.literal('model').describe('What this is.'),
    alias_of: z.string().nullable().describe('Id of the model that this is another name of; null: none.'),
    created: z.int().describe('Release date in seconds since 1970.'),
    owned_by: z.string().describe('Who made it.'),
    type: z
      .enum(['llm', 'embedding', 'decision', 'reranker'])
      .describe('A model works on the endpoint of its type alone.'),
    description: z.string().describe('What it is, in words.'),
    release_date: releaseDate,
    price: modelPrice,
    digest: z.string().nullable().describe('Of the weights of a local model. Thresholds belong to one digest.'),
    source: z
      .string()
      .nullable()
      .describe('Where a model of others was pulled from, `organisation/name@commit`; null: from nowhere.'),
    calibrated: z
      .boolean()
      .nullable()
      .describe(
        'Whether the probabilities of a decision model were fitted to labelled rows; until then their order says more than their size. null: no decision model.',
      ),
    limits: z
      .record(z.string(), z.int().min(0))
      .describe(
        'What a caller may send, in tokens. `pair_tokens` are those of two texts that are read together; `request_rows` is how often a request may have the state read: once for each option, or each question.',
      ),
    prompts: z.array(z.string()).describe('What `prompt_name` of an embedding may be. Mostly none.'),
    base: z.string().nullable().describe('Id of the model that a learned model stands on; null: it is none.'),
  })
  .meta({ id: 'Model', description: 'One model: what it is, what it costs, what it takes.' });

const decisionModel = z
  .object({
    name: z.string().describe('The same as `id`.'),
    description: z.string().describe('What it is, in words.'),
    release_date: releaseDate,
  })
  .meta({ id: 'ModelName', description: 'A model as clients of the decision format read it.' });

export const modelListSchema = z
  .object({
    object: z.literal('list').describe('What this is.'),
    data: z.array(modelSchema).describe('The models, local ones first.'),
    models: z.array(decisionModel).describe('The same models in the form that clients of the decision format read.'),
  })
  .meta({ id: 'ModelList', description: 'Exactly the models that the calling key may use.' });

export function toWireModel(card: ModelCard): z.output<typeof modelSchema> {
  return {
    id: card.id,
    object: 'model',
    alias_of: card.aliasOf ?? null,
    created: Math.floor(Date.parse(card.releaseDate) / 1000),
    owned_by: card.ownedBy,
    type: card.type,
    description: card.description,
    release_date: card.releaseDate,
    price: {
      input: toUsdPerMillionTokens(card.price.inputMicroUsd),
      output: toUsdPerMillionTokens(card.price.outputMicroUsd),
    },
    digest: card.digest ?? null,
    source: card.source ?? null,
    calibrated: card.isCalibrated ?? null,
    limits: { ...card.limits },
    prompts: [...(card.prompts ?? [])],
    base: card.learned?.base.id ?? null,
  };
}

export function toWireModelList(cards: readonly ModelCard[]): z.output<typeof modelListSchema> {
  return {
    object: 'list',
    data: cards.map(toWireModel),
    models: cards.map((card) => ({ name: card.id, description: card.description, release_date: card.releaseDate })),
  };
}
