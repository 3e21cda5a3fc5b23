// The body of POST /ai/v1/rerank, and its way into the domain: the fields that clients of Jina, Cohere and LiteLLM send.
// Its other form is in texts-request.ts.
// What they can ask for and this server does not do is refused; what changes nothing is taken.

import { z } from 'zod';
import type { Reranking, RerankRequest } from '../../services/inference/inference.ts';
import { modelField } from './model-field.ts';
import { writeRanking } from './rerank-reply.ts';

const MAX_DOCUMENTS = 1000;
/** More than anybody means, and what every client can write as a number. */
const MAX_COUNT = 1_000_000;
const MOST = MAX_DOCUMENTS.toLocaleString('en-US');
const TOO_LONG_FOR_MODEL = 'beside the query takes more than the model reads at once';

interface DocumentsFault {
  readonly message: string;
  readonly path: (string | number)[];
}

/** @param field its name @returns the texts, or the first problem */
function readDocuments(input: unknown, field: string): string[] | DocumentsFault {
  const shape = `The field '${field}' must be an array of strings, or of objects such as {"text": "a document"}.`;
  if (!Array.isArray(input)) return { message: shape, path: [] };
  if (input.length === 0) return { message: `The field '${field}' must not be empty.`, path: [] };
  if (input.length > MAX_DOCUMENTS) return { message: `A request takes at most ${MOST} documents.`, path: [] };
  const texts: string[] = [];
  for (const [index, item] of input.entries()) {
    const text = textOf(item);
    if (text === undefined) return { message: shape, path: [index] };
    if (text === '') return { message: 'A document must not be empty.', path: [index] };
    texts.push(text);
  }
  return texts;
}

function textOf(item: unknown): string | undefined {
  if (typeof item === 'string') return item;
  const text: unknown = typeof item === 'object' && item !== null ? Object(item).text : undefined;
  return typeof text === 'string' ? text : undefined;
}

const text = { type: 'string', minLength: 1, description: 'A document.' };

/** @param field its name in the body */
export function documentsField(field: string) {
  return z
    .unknown()
    .transform((input, context): string[] => {
      const result = readDocuments(input, field);
      if (Array.isArray(result)) return result;
      context.addIssue({ code: 'custom', ...result });
      return z.NEVER;
    })
    .meta({
      type: 'array',
      items: {
        anyOf: [text, { type: 'object', properties: { text }, required: ['text'] }],
      },
      minItems: 1,
      maxItems: MAX_DOCUMENTS,
      description: 'What to rank: texts, or objects with a `text`, of which nothing else is read.',
    });
}

/** Of both forms of the request. */
export const queryField = z
  .string("The field 'query' must be a string.")
  .min(1, "The field 'query' must not be empty.")
  .describe('What the documents should answer.');

/** @param name of the field */
export function booleanField(name: string) {
  return z.boolean(`The field '${name}' must be true or false.`).nullish();
}

/** Of both forms of the request. */
export const optionFields = {
  top_n: z
    .int("The field 'top_n' must be a whole number.")
    .min(1, "The field 'top_n' must be at least 1.")
    .max(MAX_COUNT, `The field 'top_n' must be at most ${MAX_COUNT}.`)
    .nullish()
    .describe('How many of the most relevant documents the reply has. Default: all. All are scored and billed.'),
  truncate: booleanField('truncate').describe(
    `Whether the end of a document is cut off that ${TOO_LONG_FOR_MODEL}; the reply says of which. Default: \`false\`: it is refused.`,
  ),
};

/** @param message what it says to any value but null */
function refusedField(message: string) {
  return z.null(message).optional().describe('Not supported: null or absent.');
}

export const rerankRequestSchema = z
  .object(
    {
      model: modelField.describe('Id of a model of type `reranker`.'),
      query: queryField,
      documents: documentsField('documents'),
      ...optionFields,
      return_documents: booleanField('return_documents').describe(
        'Whether the reply repeats the texts. Default: `false`.',
      ),
      max_chunks_per_doc: z
        .int("The field 'max_chunks_per_doc' must be a whole number.")
        .min(1, "The field 'max_chunks_per_doc' must be at least 1.")
        .max(MAX_COUNT, `The field 'max_chunks_per_doc' must be at most ${MAX_COUNT}.`)
        .nullish()
        .describe('Accepted, and changes nothing: a document is read in one piece.'),
      max_tokens_per_doc: refusedField(
        "The field 'max_tokens_per_doc' is not supported. With \"truncate\": true a document is cut where the model's limit is.",
      ),
      rank_fields: refusedField("The field 'rank_fields' is not supported: of a document its 'text' is read."),
    },
    'The body must be a JSON object.',
  )
  .meta({ id: 'RerankRequest', description: 'A query, and documents to put in order by what they say to it.' });

export const rerankRequestExample = {
  model: 'reranker',
  query: 'How do I get my money back?',
  documents: ['Refunds are paid within 5 days.', 'We ship to 40 countries.'],
};

/** What is asked, and how the reply is worded. */
export interface RerankCall {
  readonly request: RerankRequest;
  readonly write: (reranking: Reranking) => string;
}

type WireRerankRequest = z.output<typeof rerankRequestSchema>;

export function toRerankCall(body: WireRerankRequest): RerankCall {
  const { model, query, documents, top_n: topN, truncate, return_documents: returnsDocuments } = body;
  const request = { modelId: model, query, documents, topN: topN ?? undefined, truncate: truncate ?? false };
  const form = { documents, returnsDocuments: returnsDocuments ?? false };
  return { request, write: (reranking) => writeRanking(reranking, form) };
}
