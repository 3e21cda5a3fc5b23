// The bodies of POST /ai/v1/responses. Checked is what we act on; everything else belongs to the upstream, which is sent the
// caller's own text.

import { z } from 'zod';
import { modelField } from './model-field.ts';

export const responseRequestSchema = z
  .looseObject(
    {
      model: modelField.describe('Id of a model of type `llm` whose upstream serves this format.'),
      input: z
        .union([z.string(), z.array(z.unknown())], { error: "The field 'input' must be a text or a list of items." })
        .describe('A text, or items: messages, calls of tools and their results; passed on as they are.'),
      stream: z
        .boolean("The field 'stream' must be true or false.")
        .nullish()
        .describe('Answer as server-sent events, the last of which is `response.completed` or `response.incomplete`.'),
    },
    'The body must be a JSON object.',
  )
  .meta({
    id: 'ResponseRequest',
    description: [
      'A request of the format of responses. Fields that are not named here are passed on untouched, but for `background`,',
      '`previous_response_id` and `conversation`, which are refused: what an upstream keeps belongs to the one account that',
      'all keys share there.',
    ].join(' '),
  });

export const responseRequestExample = { model: 'llama', input: 'Say hello.', max_output_tokens: 50 };

const tokens = z.int().min(0);

export const responseReplySchema = z
  .looseObject({
    id: z.string().describe('Given by the upstream.'),
    object: z.string().describe('`response`'),
    model: z.string().describe('The id that was asked for.'),
    output: z.array(z.unknown()).describe('The items, as the upstream gave them.'),
    usage: z
      .looseObject({
        input_tokens: tokens.describe('Tokens of what was sent.'),
        output_tokens: tokens.describe('Tokens of the answer, reasoning included.'),
        total_tokens: tokens.describe('Both together.'),
      })
      .optional()
      .describe('What is billed.'),
    'x-umpire-usage': z
      .literal('estimated')
      .optional()
      .describe('There where the upstream told no usage: the counts are our estimate.'),
  })
  .meta({ id: 'Response', description: 'The answer of the upstream, with our id of the model.' });
