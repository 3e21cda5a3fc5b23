// How much an embedding call may ask for: what the card says of it, and the refusal of a call that is too large as a
// whole. Pure.

import { AppError } from '../../domain/errors.ts';
import { inputTokenLimit, windowTokens } from '../../runtime/families/text-encoder/embedding-tokens.ts';
import type { LongInputs } from '../../runtime/messages.ts';
import type { TextEncoderManifest } from '../../runtime/model-folder/manifest.ts';
import type { EmbedInput, EmbedJob } from '../engine.ts';

/** As many as there may be inputs of one window each: windows make a call no dearer than it could be without them. */
const MOST_WINDOWS = 2048;
/** Tokenizers take syllables of Hangul apart, into three at most. */
const MOST_TOKENS_PER_CHARACTER = 3;

/** What a caller may send: the manifest counts the special tokens of an input, which no caller sends. */
export function embeddingLimits(manifest: TextEncoderManifest, longInputs: LongInputs): Record<string, number> {
  const input_tokens = inputTokenLimit(manifest, longInputs);
  if (longInputs !== 'windows') return { input_tokens };
  return { input_tokens, window_tokens: windowTokens(manifest), request_tokens: requestTokenLimit(manifest) };
}

/** Whether its tokens must be counted before it is let in. */
export function mayBeTooLarge({ inputs, truncate = false }: EmbedJob, manifest: TextEncoderManifest): boolean {
  return !truncate && inputs.reduce((sum, input) => sum + mostTokens(input), 0) > requestTokenLimit(manifest);
}

function mostTokens(input: EmbedInput): number {
  return input.length * (typeof input === 'string' ? MOST_TOKENS_PER_CHARACTER : 1);
}

/** @throws AppError context_length_exceeded */
export function requireRequestTokens(tokens: number, manifest: TextEncoderManifest): void {
  const limit = requestTokenLimit(manifest);
  if (tokens <= limit) return;
  const message = `The inputs have ${tokens} tokens in all; ${manifest.id} takes at most ${limit} in a request.`;
  throw new AppError('context_length_exceeded', message, { param: 'input' });
}

function requestTokenLimit(manifest: TextEncoderManifest): number {
  return MOST_WINDOWS * windowTokens(manifest);
}
