// A chat call and its answer, as far as somebody has to read them: the texts pass through as they came.

import type { JsonMember } from './json.ts';

/** In whose words a call is made: messages, a prompt alone (`completions`), or the items of `responses`. */
export type ChatFormat = 'chat' | 'completions' | 'responses';

/** The endpoint of each. */
export const ENDPOINT_OF_FORMAT: Readonly<Record<ChatFormat, string>> = {
  chat: '/ai/v1/chat/completions',
  completions: '/ai/v1/completions',
  responses: '/ai/v1/responses',
};

/** The caller's body as sent, plus what had to be read of it. Text and value are empty once the body was let go. */
export interface ChatRequest {
  readonly modelId: string;
  readonly format: ChatFormat;
  readonly stream: boolean;
  /** The client asked for `stream_options.include_usage`. */
  readonly includeUsage: boolean;
  /** The text of a JSON object. A text, because parsing and printing would change numbers and drop duplicates. */
  readonly bodyText: string;
  /** Of the text, where whoever parsed it listed them. */
  readonly bodyMembers?: readonly JsonMember[];
  /** The same, parsed. */
  readonly body: Readonly<Record<string, unknown>>;
  /** To be called when the body has gone out: the answer may take its time, and need not keep it in memory. */
  letGo?(): void;
}

/** One server-sent event for the client: the JSON of a chunk, with our model id. `[DONE]` is not among them. */
export interface ChatChunk {
  readonly json: string;
  /** Name of the event, in formats that have such. */
  readonly event?: string;
}
