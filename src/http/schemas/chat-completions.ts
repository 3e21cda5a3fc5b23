// The bodies of POST /ai/v1/chat/completions. Checked is what we act on; everything else belongs to the upstream, which
// is sent the caller's own text.

import { z } from 'zod';
import type { ChatFormat, ChatRequest } from '../../domain/chat.ts';
import { isRecord, type JsonMember } from '../../domain/json.ts';
import { modelField } from './model-field.ts';

/** How a body of any chat format says that it wants a stream. */
export const streamField = z
  .boolean("The field 'stream' must be true or false.")
  .nullish()
  .describe('Answer as server-sent events, ended by `data: [DONE]`.');

export const streamOptions = z
  .looseObject(
    {
      include_usage: z
        .boolean("The field 'stream_options.include_usage' must be true or false.")
        .nullish()
        .describe('The last chunk carries `usage`; with `"x-umpire-usage": "estimated"` where the upstream told none.'),
    },
    "The field 'stream_options' must be an object.",
  )
  .meta({ id: 'ChatStreamOptions', description: 'What a stream tells besides its text.' });

export const chatRequestSchema = z
  .looseObject(
    {
      model: modelField.describe('Id of a model of type `llm`.'),
      messages: z
        .array(z.unknown(), 'The field \'messages\' must be an array, such as [{"role": "user", "content": "Hello"}].')
        .describe('The conversation, in the shape the model takes; passed on as it is.'),
      stream: streamField,
      stream_options: streamOptions.nullish().describe('What a stream tells besides its text.'),
    },
    'The body must be a JSON object.',
  )
  .meta({
    id: 'ChatRequest',
    description: [
      'A request of the chat-completion format. Fields that are not named here are passed on untouched. `max_tokens`',
      'never limits the reasoning of a reasoning model.',
    ].join(' '),
  });

export const chatRequestExample = {
  model: 'llama',
  messages: [{ role: 'user', content: 'Say hello.' }],
  max_tokens: 50,
};

const tokens = z.int().min(0);

export const chatUsageSchema = z
  .looseObject({
    prompt_tokens: tokens.describe('Tokens of the conversation that was sent.'),
    completion_tokens: tokens.describe('Tokens of the answer, reasoning included.'),
    total_tokens: tokens.describe('Both together.'),
  })
  .meta({ id: 'ChatUsage', description: 'What is billed.' });

export const chatReplySchema = z
  .looseObject({
    id: z.string().describe('Given by the upstream.'),
    object: z.string().describe('`chat.completion`'),
    model: z.string().describe('The id that was asked for.'),
    choices: z.array(z.unknown()).describe('The answers, as the upstream gave them.'),
    usage: chatUsageSchema.optional().describe('What is billed.'),
    'x-umpire-usage': z
      .literal('estimated')
      .optional()
      .describe('There where the upstream told no usage: the counts are our estimate.'),
  })
  .meta({
    id: 'ChatCompletion',
    description: 'The answer of the upstream, with our id of the model and with usage that includes reasoning.',
  });

/** What all chat formats have. */
export interface ChatBody extends Readonly<Record<string, unknown>> {
  readonly model: string;
  readonly stream?: boolean | null | undefined;
}

export interface ReceivedChat {
  readonly format: ChatFormat;
  readonly body: ChatBody;
  /** The text that it was parsed from. */
  readonly bodyText: string;
  readonly bodyMembers: readonly JsonMember[];
  /** Called when the request has let go of both. */
  readonly onLetGo: () => void;
}

export function toChatRequest({ format, body, bodyText, bodyMembers, onLetGo }: ReceivedChat): ChatRequest {
  const options = body['stream_options'];
  return {
    format,
    // A copy: what is cut from a text keeps the whole of it in memory.
    modelId: Buffer.from(body.model).toString(),
    stream: body.stream ?? false,
    includeUsage: isRecord(options) && options['include_usage'] === true,
    bodyText,
    bodyMembers,
    body,
    letGo() {
      Object.assign(this, { bodyText: '', bodyMembers: [], body: {} });
      onLetGo();
    },
  };
}
