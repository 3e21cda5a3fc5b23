// The body of POST /ai/v1/embeddings, and its way into the domain. Inputs may be a million numbers, so they are checked
// by plain loops; their documentation stands beside them.

import { z } from 'zod';
import type { InputType, PromptChoice } from '../../domain/prompt-choice.ts';
import type { EmbeddingRequest } from '../../services/inference/inference.ts';
import { modelField } from './model-field.ts';

const MAX_EMBEDDING_INPUTS = 2048;
/** Far more than any; what a model has is checked by the engine. */
const MAX_DIMENSIONS = 1_000_000;

type Inputs = EmbeddingRequest['inputs'];
type Input = Inputs[number];

interface Problem {
  readonly message: string;
  readonly path: number[];
}

/** Whether token ids are taken; if so, they are those of the model's own tokenizer. */
export type TokenArrays = 'refuse' | 'model';

const SHAPES: Readonly<Record<TokenArrays, string>> = {
  refuse: 'The field \'input\' must be a string or an array of strings, such as ["one text", "another"].',
  model: "The field 'input' must be a string, an array of strings, an array of token ids, or an array of such arrays.",
};
// Most clients that send ids cut the text with the vocabulary of another model. Many of them are ids of this one too, of
// other words: the vectors would be nonsense, and nobody would be told.
const TOKENS_REFUSED = [
  "The field 'input' holds token ids, which this server does not take: they may be of another vocabulary than the",
  'model\'s. Send the text itself, such as "input": ["one text", "another"]; with LangChain set',
  'OpenAIEmbeddings(check_embedding_ctx_length=False).',
].join(' ');
const EMPTY = "The field 'input' must not be empty.";
const TOO_MANY = `A request takes at most ${MAX_EMBEDDING_INPUTS.toLocaleString('en-US')} inputs.`;

const isTokenId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** The inputs, or the first problem. One array of numbers is one input. */
function readInputs(input: unknown, tokenArrays: TokenArrays): Inputs | Problem {
  const shapes = SHAPES[tokenArrays];
  if (typeof input === 'string') return readList([input], { kind: typeof input, shapes });
  if (!Array.isArray(input)) return { message: shapes, path: [] };
  if (tokenArrays === 'refuse' && holdsNumbers(input)) return { message: TOKENS_REFUSED, path: [] };
  if (typeof input[0] === 'number') return readTokens(input, { path: [], shapes }) ?? [input as number[]];
  return readList(input, { kind: tokenArrays === 'refuse' ? 'string' : typeof input[0], shapes });
}

function holdsNumbers([first]: readonly unknown[]): boolean {
  return typeof first === 'number' || (Array.isArray(first) && typeof first[0] === 'number');
}

interface ListRules {
  /** `string`, or `object` for arrays of token ids; all items are of one kind. */
  readonly kind: string;
  /** What is said of an item of another kind. */
  readonly shapes: string;
}

function readList(items: readonly unknown[], { kind, shapes }: ListRules): Inputs | Problem {
  if (items.length === 0) return { message: EMPTY, path: [] };
  if (items.length > MAX_EMBEDDING_INPUTS) return { message: TOO_MANY, path: [] };
  for (const [index, item] of items.entries()) {
    const place = { path: items.length === 1 ? [] : [index], shapes };
    const problem = kind === 'string' ? textProblem(item, place) : readTokens(item, place);
    if (problem !== undefined) return problem;
  }
  return items as readonly Input[];
}

interface ItemPlace extends Pick<ListRules, 'shapes'> {
  readonly path: number[];
}

function textProblem(item: unknown, { path, shapes }: ItemPlace): Problem | undefined {
  if (typeof item !== 'string') return { message: shapes, path };
  return item === '' ? { message: 'An input must not be empty.', path } : undefined;
}

/** @returns the first problem */
function readTokens(item: unknown, { path, shapes }: ItemPlace): Problem | undefined {
  if (!Array.isArray(item)) return { message: shapes, path };
  if (item.length === 0) return { message: 'An input must not be empty.', path };
  const wrong = item.findIndex((id) => !isTokenId(id));
  return wrong < 0 ? undefined : { message: 'A token id must be a whole number, at least 0.', path: [...path, wrong] };
}

const tokens = { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 };
const text = { type: 'string', minLength: 1 };
const TEXTS = [text, { type: 'array', items: text, minItems: 1, maxItems: MAX_EMBEDDING_INPUTS }];
const TOKENS = [tokens, { type: 'array', items: tokens, minItems: 1, maxItems: MAX_EMBEDDING_INPUTS }];

function buildInputField(tokenArrays: TokenArrays) {
  const takesTokens = tokenArrays === 'model';
  return z
    .unknown()
    .transform((input, context): Inputs => {
      const result = readInputs(input, tokenArrays);
      if (!('message' in result)) return result;
      context.addIssue({ code: 'custom', message: result.message, path: result.path });
      return z.NEVER;
    })
    .meta({
      anyOf: takesTokens ? [...TEXTS, ...TOKENS] : TEXTS,
      description: takesTokens
        ? "What to embed: one text or several, or the same as ids of the model's own tokenizer."
        : 'What to embed: one text or several.',
    });
}

/** As clients of several makers say it. */
const TYPE_OF_INPUT = {
  query: 'query',
  search_query: 'query',
  document: 'document',
  search_document: 'document',
  passage: 'document',
  classification: 'classification',
  clustering: 'clustering',
} as const satisfies Readonly<Record<string, InputType>>;
const INPUT_TYPES = Object.keys(TYPE_OF_INPUT) as (keyof typeof TYPE_OF_INPUT)[];
const TWO_PROMPTS = "The fields 'prompt_name' and 'input_type' both choose a prompt: send one of them.";

const otherFields = {
  encoding_format: z
    .enum(['float', 'base64'], 'The field \'encoding_format\' must be "float" or "base64".')
    .nullish()
    .describe('`base64`: little-endian float32. Default: `float`.'),
  dimensions: z
    .int("The field 'dimensions' must be a whole number.")
    .min(1, "The field 'dimensions' must be at least 1.")
    .max(MAX_DIMENSIONS, "The field 'dimensions' is more than any model has.")
    .nullish()
    .describe("Fewer than the model's own are cut off the end and normalised again."),
  truncate: z
    .boolean("The field 'truncate' must be true or false.")
    .nullish()
    .describe(
      'Whether no more of a text is read than the model reads at once; the reply says of which. Default: `false`.',
    ),
  prompt_name: z
    .string("The field 'prompt_name' must be a string.")
    .nullish()
    .describe(
      'Name of a prompt of the model, which is put before every text: the card of the model lists them. Default: its own default, mostly none.',
    ),
  input_type: z
    .enum(INPUT_TYPES, `The field 'input_type' must be one of ${INPUT_TYPES.join(', ')}.`)
    .nullish()
    .describe(
      "What the texts are for. It stands for the model's own prompt for that; a model without one needs none. Not beside `prompt_name`.",
    ),
  user: z.unknown().optional().describe('Accepted and ignored.'),
};

export function buildEmbeddingRequestSchema(tokenArrays: TokenArrays) {
  const model = modelField.describe('Id of a model of type `embedding`.');
  return z
    .object({ model, input: buildInputField(tokenArrays), ...otherFields }, 'The body must be a JSON object.')
    .refine(({ prompt_name: name, input_type: type }) => name == null || type == null, {
      path: ['input_type'],
      message: TWO_PROMPTS,
    })
    .meta({ id: 'EmbeddingRequest', description: 'Texts to turn into vectors.' });
}

export const embeddingRequestExample = { model: 'text-embed-mini', input: ['one text', 'another'] };

export function toEmbeddingRequest(body: z.output<ReturnType<typeof buildEmbeddingRequestSchema>>): EmbeddingRequest {
  return {
    modelId: body.model,
    inputs: body.input,
    dimensions: body.dimensions ?? undefined,
    encoding: body.encoding_format ?? 'float',
    truncate: body.truncate ?? false,
    prompt: toPromptChoice(body.prompt_name ?? undefined, body.input_type ?? undefined),
  };
}

function toPromptChoice(
  name: string | undefined,
  type: keyof typeof TYPE_OF_INPUT | undefined,
): PromptChoice | undefined {
  if (name !== undefined) return { name };
  return type && { inputType: TYPE_OF_INPUT[type] };
}
