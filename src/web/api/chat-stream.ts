// A chat as it comes in: the parts of its text, then what it used. An answer that breaks off says why.

import { createParser } from 'eventsource-parser';
import type { Usage } from '../../domain/usage.ts';
import { openReply, RequestError } from './call-api.ts';

export interface StreamReader {
  /** A part of the answer. */
  text(part: string): void;
  usage(usage: Usage): void;
}

export interface StreamedChat {
  readonly key: string;
  readonly modelId: string;
  /** As the chat format has them. */
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly signal: AbortSignal;
}

const PATH = '/ai/v1/chat/completions';
/** The last event of a stream that came to its end. */
const DONE = '[DONE]';

/** @throws RequestError, also where the stream breaks off in its middle; DOMException `AbortError` */
export async function streamChat(
  { key, modelId, messages, signal }: StreamedChat,
  listener: StreamReader,
): Promise<void> {
  const body = JSON.stringify({ model: modelId, messages, stream: true, stream_options: { include_usage: true } });
  const response = await openReply(PATH, { key, body, signal });
  let isDone = false;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === DONE) isDone = true;
      else readChunk(data, listener);
    },
  });
  const reader = (response.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) parser.feed(part.value);
  } catch (error) {
    if (error instanceof RequestError || signal.aborted) throw error;
    throw brokenOff();
  }
  if (!isDone) throw brokenOff();
}

function brokenOff(): RequestError {
  return new RequestError('The answer broke off: the connection was lost.', { code: 'broken_off' });
}

/** @throws RequestError where the chunk is an error: what had failed after the answer began */
function readChunk(data: string, listener: StreamReader): void {
  const { choices, usage, error } = JSON.parse(data);
  if (error !== undefined) {
    throw new RequestError(String(Object(error).message), { code: String(Object(error).code) });
  }
  const content = Array.isArray(choices) ? Object(Object(choices[0]).delta).content : undefined;
  if (typeof content === 'string') listener.text(content);
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = Object(usage);
  if (typeof inputTokens === 'number' && typeof outputTokens === 'number')
    listener.usage({ inputTokens, outputTokens });
}
