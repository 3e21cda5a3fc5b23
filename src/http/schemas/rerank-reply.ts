// The reply of POST /ai/v1/rerank, in the form that clients of Jina and Cohere read.

import { z } from 'zod';
import type { Reranking } from '../../services/inference/inference.ts';

const result = z
  .object({
    index: z.int().min(0).describe('Place of the document in the request, from 0.'),
    relevance_score: z
      .number()
      .min(0)
      .max(1)
      .describe('How relevant it is. It depends on the query and this document alone.'),
    document: z
      .object({ text: z.string().describe('The text, as it came.') })
      .meta({ id: 'RankedText', description: 'A document of the request.' })
      .optional()
      .describe('There where `return_documents` was asked for.'),
    truncated: z
      .literal(true)
      .optional()
      .describe('There where `truncate` was asked for and the document was cut: its end was not read, nor billed.'),
  })
  .meta({ id: 'RankedDocument', description: 'One document in its place.' });

const usage = z
  .object({
    prompt_tokens: z
      .int()
      .min(0)
      .describe('Tokens of all documents, and those of the query once for each: what is billed.'),
    total_tokens: z.int().min(0).describe('The same: nothing is written.'),
  })
  .meta({ id: 'RerankUsage', description: 'What is billed.' });

export const rerankReplySchema = z
  .object({
    object: z.literal('list').describe('What this is.'),
    model: z.string().describe('Id of the model that answered.'),
    results: z.array(result).describe('The most relevant first; of equal ones the first in the request.'),
    usage,
  })
  .meta({ id: 'Ranking', description: 'Documents in the order of their relevance.' });

export interface RankingForm {
  readonly documents: readonly string[];
  /** Whether the texts are repeated. */
  readonly returnsDocuments: boolean;
}

export function writeRanking(reranking: Reranking, { documents, returnsDocuments }: RankingForm): string {
  const { model, ranking, usage: used } = reranking;
  const truncated = new Set(reranking.truncated);
  const results = ranking.map(({ index, relevance }) => ({
    index,
    relevance_score: relevance,
    ...(returnsDocuments ? { document: { text: documents[index] ?? '' } } : {}),
    ...(truncated.has(index) ? { truncated: true as const } : {}),
  }));
  const reply: z.output<typeof rerankReplySchema> = {
    object: 'list',
    model: model.id,
    results,
    usage: { prompt_tokens: used.inputTokens, total_tokens: used.inputTokens },
  };
  return JSON.stringify(reply);
}
