// What an embedding call is in tokens: ids of each input, checked against the model's limits. No graphs: the same code
// counts before a call and runs in it. Pure.

import { AppError } from '../../domain/errors.ts';
import type { TextEncoderManifest } from '../manifest.ts';
import type { EmbedTask } from '../messages.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { countedTokens, tellTokens } from './token-limit.ts';

const SPECIAL_TOKENS = 2;

interface EmbeddingReader {
  readonly manifest: TextEncoderManifest;
  readonly tokenizer: Tokenizer;
}

export interface EmbeddingTokens {
  /** `[inputs]`: ids without specials. */
  readonly rows: readonly Int32Array[];
  readonly inputTokens: number;
}

/** @throws AppError context_length_exceeded, invalid_request (an id outside the vocabulary) */
export function tokenizeInputs(inputs: EmbedTask['inputs'], reader: EmbeddingReader): EmbeddingTokens {
  const rows = inputs.map(({ place, input }) => toIds(input, `input[${place}]`, reader));
  return { rows, inputTokens: rows.reduce((sum, ids) => sum + ids.length, 0) };
}

function toIds(input: string | readonly number[], param: string, reader: EmbeddingReader): Int32Array {
  const { manifest, tokenizer } = reader;
  const limit = manifest.limits.input_tokens - SPECIAL_TOKENS;
  const ids = typeof input === 'string' ? tokenizer.encode(input, countedTokens(limit)) : input;
  if (ids.length > limit) {
    const told = typeof input === 'string' ? tellTokens(ids.length, limit) : ids.length;
    const message = `${param} has ${told} tokens; ${manifest.id} takes at most ${limit}.`;
    throw new AppError('context_length_exceeded', message, { param });
  }
  if (ids instanceof Int32Array) return ids;
  if (!ids.every((id) => Number.isInteger(id) && id >= 0 && id < tokenizer.vocabularySize)) {
    const message = `${param} has a token id outside the vocabulary of ${manifest.id} (0 to ${tokenizer.vocabularySize - 1}).`;
    throw new AppError('invalid_request', message, { param });
  }
  return Int32Array.from(ids);
}
