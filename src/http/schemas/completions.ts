// The bodies of POST /ai/v1/completions. Checked is what we act on; everything else belongs to the upstream, which is sent
// the caller's own text.

import { z } from 'zod';
import { chatUsageSchema, streamField, streamOptions } from './chat-completions.ts';
import { modelField } from './model-field.ts';

const FORM = "The field 'prompt' must be a text, a list of texts, a list of token ids or a list of such lists.";

export const completionRequestSchema = z
  .looseObject(
    {
      model: modelField.describe('Id of a model of type `llm` whose upstream serves this format.'),
      prompt: z
        .union([z.string(), z.array(z.unknown())], { error: FORM })
        .describe('What is to be continued: a text, or several, or ids of tokens of the model; passed on as it is.'),
      stream: streamField,
      stream_options: streamOptions.nullish().describe('What a stream tells besides its text.'),
    },
    'The body must be a JSON object.',
  )
  .meta({
    id: 'CompletionRequest',
    description: 'A request of the older completion format. Fields that are not named here are passed on untouched.',
  });

export const completionRequestExample = { model: 'llama', prompt: 'Once upon a time', max_tokens: 20 };

export const completionReplySchema = z
  .looseObject({
    id: z.string().describe('Given by the upstream.'),
    object: z.string().describe('`text_completion`'),
    model: z.string().describe('The id that was asked for.'),
    choices: z.array(z.unknown()).describe('The texts, as the upstream gave them.'),
    usage: chatUsageSchema.optional().describe('What is billed.'),
    'x-umpire-usage': z
      .literal('estimated')
      .optional()
      .describe('There where the upstream told no usage: the counts are our estimate.'),
  })
  .meta({ id: 'TextCompletion', description: 'The answer of the upstream, with our id of the model.' });
