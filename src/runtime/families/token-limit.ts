// How far a text is read that has more tokens than a model takes, and what its refusal then says. Pure.

import { AppError } from '../../domain/errors.ts';

/**
 * A refusal names the number of tokens. To know it, a text is read on to this multiple of the limit and no further: what
 * a body of 8 MiB would cost is bounded by the model, not by the sender.
 */
const COUNTED_LIMITS = 8;

/** @param limit tokens that the model takes @returns the limit for `Tokenizer.encode` */
export function countedTokens(limit: number): number {
  return COUNTED_LIMITS * limit;
}

/** @param tokens that were read under `countedTokens(limit)` */
export function tellTokens(tokens: number, limit: number): string {
  const counted = countedTokens(limit);
  return tokens > counted ? `more than ${counted}` : `${tokens}`;
}

/** @param param what has too many tokens, as a field of the request */
export function exceedsContext(message: string, param: string): AppError {
  return new AppError('context_length_exceeded', message, { param });
}
