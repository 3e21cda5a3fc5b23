// How much an embedding call may ask for: what the card says of it, and the refusal of a call that is too large as a
// whole. Pure.

import { AppError } from '../../domain/errors.ts';
import { inputTokenLimit } from '../../runtime/families/text-encoder/embedding-tokens.ts';
import type { LongInputs } from '../../runtime/messages.ts';
import type { EmbedInput, EmbedJob } from '../engine.ts';

/** As many as there may be inputs of one window each: windows make a call no dearer than it could be without them. */
const MOST_WINDOWS = 2048;
/** Tokenizers take syllables of Hangul apart, into three at most. */
const MOST_TOKENS_PER_CHARACTER = 3;

/** What a caller may send, prompts included. @param window content tokens that the model reads at once */
export function embeddingLimits(window: number, longInputs: LongInputs): Record<string, number> {
  const input_tokens = inputTokenLimit(window, longInputs);
  if (longInputs !== 'windows') return { input_tokens };
  return { input_tokens, window_tokens: window, request_tokens: requestTokenLimit(window) };
}

/** Whether its tokens must be counted before it is let in. @param prompt text before every input */
export function mayBeTooLarge({ inputs, truncate = false }: EmbedJob, prompt: string, window: number): boolean {
  if (truncate) return false;
  const most = inputs.reduce((sum, input) => sum + mostTokens(input) + mostTokens(prompt), 0);
  // A prompt takes at most half of every window.
  return (prompt === '' ? most : 2 * most) > requestTokenLimit(window);
}

function mostTokens(input: EmbedInput): number {
  return input.length * (typeof input === 'string' ? MOST_TOKENS_PER_CHARACTER : 1);
}

/** @throws AppError context_length_exceeded */
export function requireRequestTokens(tokens: number, modelId: string, window: number): void {
  const limit = requestTokenLimit(window);
  if (tokens <= limit) return;
  const message = `The inputs have ${tokens} tokens in all; ${modelId} takes at most ${limit} in a request.`;
  throw new AppError('context_length_exceeded', message, { param: 'input' });
}

function requestTokenLimit(window: number): number {
  return MOST_WINDOWS * window;
}
