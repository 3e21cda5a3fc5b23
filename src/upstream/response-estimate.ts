// What a call in the formats of responses and of completions will use and has used, where nobody says. Reads their shapes and
// takes none for granted. Pure.

import { isRecord } from '../domain/json.ts';
import { type BilledTokens, MAX_BILLED_TOKENS } from '../domain/money.ts';
import { MAX_CHOICES, measureCall, measureContent, type RequestBody } from './chat-estimate.ts';
import { measureText, toTokens } from './token-estimate.ts';
import { asCap } from './upstream-body.ts';
import type { ChatUpstreamOptions } from './upstream-options.ts';

type Reserve = Pick<ChatUpstreamOptions, 'reserveOutputTokens'>;

/** Hundredths of a token for the role and the marks around an item. */
const ITEM_FRAME = 400;
/** Hundredths of a token of a token. */
const TOKEN = 100;
/** Where texts of an item may stand. */
const TEXT_FIELDS = ['content', 'output', 'summary', 'refusal'] as const;
/** What describes tools and the shape of the answer: part of the prompt, as JSON. */
const SCHEMA_FIELDS = ['tools', 'text'] as const;

/** Hundredths of a token in items of input or output: messages, calls of tools and their results, reasoning. */
export function measureItems(items: readonly unknown[]): number {
  let hundredths = 0;
  for (const item of items) {
    if (!isRecord(item)) continue;
    hundredths += measureCall(item);
    for (const field of TEXT_FIELDS) hundredths += measureContent(item[field]);
  }
  return hundredths;
}

export function estimateResponseInput(body: RequestBody): number {
  const { input, instructions } = body;
  let hundredths = measureContent(instructions) + (typeof input === 'string' ? ITEM_FRAME + measureText(input) : 0);
  if (Array.isArray(input)) hundredths += input.length * ITEM_FRAME + measureItems(input);
  for (const field of SCHEMA_FIELDS) {
    if (isRecord(body[field]) || Array.isArray(body[field])) hundredths += measureText(JSON.stringify(body[field]));
  }
  return Math.min(toTokens(hundredths), MAX_BILLED_TOKENS);
}

/** `max_output_tokens` has reasoning in it. */
export function expectedOfResponse(body: RequestBody, { reserveOutputTokens }: Reserve): BilledTokens {
  const outputTokens = asCap(body['max_output_tokens']) ?? reserveOutputTokens;
  return {
    inputTokens: estimateResponseInput(body),
    cachedTokens: 0,
    outputTokens: Math.min(outputTokens, MAX_BILLED_TOKENS),
  };
}

/** Of one prompt or several: texts, or ids of tokens. */
export function estimatePrompt({ prompt }: RequestBody): number {
  const hundredths = promptsOf(prompt).reduce<number>((sum, one) => sum + measurePrompt(one), 0);
  return Math.min(toTokens(hundredths), MAX_BILLED_TOKENS);
}

/** Every prompt has `n` answers, the best of `best_of`. */
export function expectedOfPrompt(body: RequestBody, { reserveOutputTokens }: Reserve): BilledTokens {
  const answers = Math.min(Math.max(asCap(body['n']) ?? 1, asCap(body['best_of']) ?? 1), MAX_CHOICES);
  const outputTokens = promptsOf(body['prompt']).length * answers * (asCap(body['max_tokens']) ?? reserveOutputTokens);
  return {
    inputTokens: estimatePrompt(body),
    cachedTokens: 0,
    outputTokens: Math.min(outputTokens, MAX_BILLED_TOKENS),
  };
}

/** A list of numbers is one prompt. */
function promptsOf(prompt: unknown): readonly unknown[] {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt : [prompt];
}

function measurePrompt(prompt: unknown): number {
  if (typeof prompt === 'string') return measureText(prompt);
  return Array.isArray(prompt) ? prompt.length * TOKEN : 0;
}
