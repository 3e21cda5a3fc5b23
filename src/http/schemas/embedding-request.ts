// The body of POST /ai/v1/embeddings, and its way into the domain. Inputs may be a million numbers, so they are checked
// by plain loops; their documentation stands beside them.

import { z } from 'zod';
import type { EmbeddingRequest } from '../../services/embed.ts';
import { modelField } from './model-field.ts';

const MAX_EMBEDDING_INPUTS = 2048;

type Inputs = EmbeddingRequest['inputs'];
type Input = Inputs[number];

interface Problem {
  readonly message: string;
  readonly path: number[];
}

const SHAPES =
  "The field 'input' must be a string, an array of strings, an array of token ids, or an array of such arrays.";
const EMPTY = "The field 'input' must not be empty.";
const TOO_MANY = `A request takes at most ${MAX_EMBEDDING_INPUTS.toLocaleString('en-US')} inputs.`;

const isTokenId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** The inputs, or the first problem. One array of numbers is one input. */
function readInputs(input: unknown): Inputs | Problem {
  if (typeof input === 'string') return readList([input], typeof input);
  if (!Array.isArray(input)) return { message: SHAPES, path: [] };
  if (typeof input[0] === 'number') return readTokens(input, []) ?? [input as number[]];
  return readList(input, typeof input[0]);
}

/** @param kind `string`, or `object` for arrays of token ids; all items are of the first one's kind */
function readList(items: readonly unknown[], kind: string): Inputs | Problem {
  if (items.length === 0) return { message: EMPTY, path: [] };
  if (items.length > MAX_EMBEDDING_INPUTS) return { message: TOO_MANY, path: [] };
  for (const [index, item] of items.entries()) {
    const path = items.length === 1 ? [] : [index];
    const problem = kind === 'string' ? textProblem(item, path) : readTokens(item, path);
    if (problem !== undefined) return problem;
  }
  return items as readonly Input[];
}

function textProblem(item: unknown, path: number[]): Problem | undefined {
  if (typeof item !== 'string') return { message: SHAPES, path };
  return item === '' ? { message: 'An input must not be empty.', path } : undefined;
}

/** @returns the first problem */
function readTokens(item: unknown, path: number[]): Problem | undefined {
  if (!Array.isArray(item)) return { message: SHAPES, path };
  if (item.length === 0) return { message: 'An input must not be empty.', path };
  const wrong = item.findIndex((id) => !isTokenId(id));
  return wrong < 0 ? undefined : { message: 'A token id must be a whole number, at least 0.', path: [...path, wrong] };
}

const tokens = { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 };
const text = { type: 'string', minLength: 1 };
const inputField = z
  .unknown()
  .transform((input, context): Inputs => {
    const result = readInputs(input);
    if (!('message' in result)) return result;
    context.addIssue({ code: 'custom', message: result.message, path: result.path });
    return z.NEVER;
  })
  .meta({
    anyOf: [
      text,
      { type: 'array', items: text, minItems: 1, maxItems: MAX_EMBEDDING_INPUTS },
      tokens,
      { type: 'array', items: tokens, minItems: 1, maxItems: MAX_EMBEDDING_INPUTS },
    ],
    description: "What to embed: one text or several, or the same as ids of the model's own tokenizer.",
  });

export const embeddingRequestSchema = z
  .object(
    {
      model: modelField.describe('Id of a model of type `embedding`.'),
      input: inputField,
      encoding_format: z
        .enum(['float', 'base64'], 'The field \'encoding_format\' must be "float" or "base64".')
        .nullish()
        .describe('`base64`: little-endian float32. Default: `float`.'),
      dimensions: z
        .int("The field 'dimensions' must be a whole number.")
        .min(1, "The field 'dimensions' must be at least 1.")
        .nullish()
        .describe("Fewer than the model's own are cut off the end and normalised again."),
      user: z.unknown().optional().describe('Accepted and ignored.'),
    },
    'The body must be a JSON object.',
  )
  .meta({ id: 'EmbeddingRequest' });

export const embeddingRequestExample = { model: 'text-embed-mini', input: ['one text', 'another'] };

export function toEmbeddingRequest(body: z.output<typeof embeddingRequestSchema>): EmbeddingRequest {
  return {
    modelId: body.model,
    inputs: body.input,
    dimensions: body.dimensions ?? undefined,
    encoding: body.encoding_format ?? 'float',
  };
}
