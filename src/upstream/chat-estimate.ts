// What a chat call will use and has used, where nobody says: tokens of messages, tools and answers, and the most that an
// answer may have. Reads shapes of the chat format and takes none for granted. Pure.

import { isRecord } from '../domain/json.ts';
import { type BilledTokens, MAX_BILLED_TOKENS } from '../domain/money.ts';
import { measureText, toTokens } from './token-estimate.ts';
import { asCap } from './upstream-body.ts';
import type { ChatUpstreamOptions } from './upstream-options.ts';

/** Hundredths of a token for the role and the marks around a message. */
const MESSAGE_FRAME = 400;
/** Hundredths of a token for an image, a sound or a file: its bytes say nothing of its tokens. */
const MEDIA_PART = 100_000;
/** Where texts of a message or of a streamed piece of one may stand. */
const TEXT_FIELDS = ['content', 'refusal', 'name'] as const;
/** What describes tools and the shape of the answer: part of the prompt, as JSON. */
const SCHEMA_FIELDS = ['tools', 'functions', 'response_format'] as const;
/** No server gives more. */
export const MAX_CHOICES = 1024;

export type RequestBody = Readonly<Record<string, unknown>>;

/** Prompt tokens: messages, and tools and schemas as JSON. */
export function estimateInputTokens(body: RequestBody): number {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  let hundredths = 0;
  for (const message of messages) hundredths += MESSAGE_FRAME + measureMessage(message);
  for (const field of SCHEMA_FIELDS) {
    if (isRecord(body[field]) || Array.isArray(body[field])) hundredths += measureText(JSON.stringify(body[field]));
  }
  return Math.min(toTokens(hundredths), MAX_BILLED_TOKENS);
}

/** Hundredths of a token in a message, or in a streamed piece of one: texts, reasoning, calls of tools. */
export function measureMessage(message: unknown): number {
  if (!isRecord(message)) return 0;
  let hundredths = measureContent(message['reasoning_content'] ?? message['reasoning']);
  for (const field of TEXT_FIELDS) hundredths += measureContent(message[field]);
  const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'] : [];
  for (const call of calls) if (isRecord(call)) hundredths += measureCall(call['function']);
  return hundredths + measureCall(message['function_call']);
}

/** What is reserved: input by estimate, output as far as the caller's limits let it go. */
export function expectedTokens(
  body: RequestBody,
  options: Pick<ChatUpstreamOptions, 'reasoning' | 'reserveOutputTokens'>,
): BilledTokens {
  const n = asCap(body['n']) ?? 1;
  const outputTokens = Math.min(n, MAX_CHOICES) * outputPerChoice(body, options);
  return {
    inputTokens: estimateInputTokens(body),
    cachedTokens: 0,
    outputTokens: Math.min(outputTokens, MAX_BILLED_TOKENS),
  };
}

/** `max_tokens` leaves reasoning out, `max_completion_tokens` has it in; with both the smaller one holds. */
function outputPerChoice(
  body: RequestBody,
  { reasoning, reserveOutputTokens }: Pick<ChatUpstreamOptions, 'reasoning' | 'reserveOutputTokens'>,
): number {
  const visible = asCap(body['max_tokens']);
  const whole = asCap(body['max_completion_tokens']);
  if (visible === undefined) return whole ?? reserveOutputTokens;
  return Math.min(visible + (reasoning?.allowanceTokens ?? 0), whole ?? MAX_BILLED_TOKENS);
}

/** Hundredths of a token in a text, or in parts of texts, images and the like. */
export function measureContent(content: unknown): number {
  if (typeof content === 'string') return measureText(content);
  if (!Array.isArray(content)) return 0;
  let hundredths = 0;
  for (const part of content) hundredths += measurePart(part);
  return hundredths;
}

function measurePart(part: unknown): number {
  if (typeof part === 'string') return measureText(part);
  if (!isRecord(part)) return 0;
  const text = part['text'] ?? part['refusal'];
  return typeof text === 'string' ? measureText(text) : MEDIA_PART;
}

/** Hundredths of a token in the name and the arguments of a call of a tool. */
export function measureCall(call: unknown): number {
  if (!isRecord(call)) return 0;
  const texts = [call['name'], call['arguments']];
  return texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? measureText(text) : 0), 0);
}
