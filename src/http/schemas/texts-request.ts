// The other form of POST /ai/v1/rerank: `texts` instead of `documents`, as clients of text-embeddings-inference and the
// provider `huggingface` of LiteLLM send it, and the bare list that they read.

import { z } from 'zod';
import type { Reranking } from '../../services/inference/inference.ts';
import { modelField } from './model-field.ts';
import { refersTo } from './named-schema.ts';
import {
  booleanField,
  documentsField,
  optionFields,
  queryField,
  type RerankCall,
  rerankRequestSchema,
  toRerankCall,
} from './rerank-request.ts';

const textsRequestSchema = z
  .object({
    model: modelField
      .nullish()
      .describe('Id of a model of type `reranker`. Default: the only one that the key may use.'),
    query: queryField,
    texts: documentsField('texts'),
    ...optionFields,
    return_text: booleanField('return_text').describe('Whether the reply repeats the texts. Default: `false`.'),
    raw_scores: booleanField('raw_scores').describe(
      'Whether scores are the numbers of the model, before they are brought between 0 and 1. Default: `false`.',
    ),
    truncation_direction: z
      .enum(['Right', 'right'], "The field 'truncation_direction' must be Right: what is cut off is the end.")
      .nullish()
      .describe('Only the end is cut off.'),
  })
  .meta({ id: 'TextsRequest', description: 'The same as clients of text-embeddings-inference ask it.' });

/** Either form; one with `documents` is never read as the other. */
export const rerankBodySchema = z
  .unknown()
  .transform((input, context): RerankCall => {
    const result = isTextsForm(input)
      ? textsRequestSchema.transform(toTextsCall).safeParse(input)
      : rerankRequestSchema.transform(toRerankCall).safeParse(input);
    if (result.success) return result.data;
    for (const { message, path } of result.error.issues) context.addIssue({ code: 'custom', message, path });
    return z.NEVER;
  })
  .meta({ anyOf: [refersTo(rerankRequestSchema), refersTo(textsRequestSchema)] });

function isTextsForm(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'texts' in input && !('documents' in input);
}

function toTextsCall(body: z.output<typeof textsRequestSchema>): RerankCall {
  const { model, query, texts, top_n: topN, truncate } = body;
  const request = {
    modelId: model ?? undefined,
    query,
    documents: texts,
    topN: topN ?? undefined,
    truncate: truncate ?? false,
  };
  const form = { texts, returnsText: body.return_text ?? false, isRaw: body.raw_scores ?? false };
  return { request, write: (reranking) => writeScoredTexts(reranking, form) };
}

const scoredText = z
  .object({
    index: z.int().min(0).describe('Place of the text in the request, from 0.'),
    score: z.number().describe('How relevant it is: between 0 and 1, unless `raw_scores` was asked for.'),
    text: z.string().optional().describe('The text, as it came, where `return_text` was asked for.'),
    truncated: z.literal(true).optional().describe('There where `truncate` was asked for and the text was cut.'),
  })
  .meta({ id: 'ScoredText', description: 'One text in its place.' });

export const scoredTextsSchema = z
  .array(scoredText)
  .meta({ id: 'ScoredTexts', description: 'To a request with `texts`: the most relevant first.' });

interface ScoredTextsForm {
  readonly texts: readonly string[];
  readonly returnsText: boolean;
  readonly isRaw: boolean;
}

function writeScoredTexts(reranking: Reranking, { texts, returnsText, isRaw }: ScoredTextsForm): string {
  const truncated = new Set(reranking.truncated);
  const reply: z.output<typeof scoredTextsSchema> = reranking.ranking.map(({ index, score, relevance }) => ({
    index,
    score: isRaw ? score : relevance,
    ...(returnsText ? { text: texts[index] ?? '' } : {}),
    ...(truncated.has(index) ? { truncated: true as const } : {}),
  }));
  return JSON.stringify(reply);
}
