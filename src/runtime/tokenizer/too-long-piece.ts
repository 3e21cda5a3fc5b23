// The longest pieces of a text that are read. No text that is within the limit of a model has longer ones.

import { AppError } from '../../domain/errors.ts';

/** UTF-16 units of one word, or of the whole text where a model knows no words: as many as the largest body by default. */
export const LONGEST_PIECE = 1 << 23;
/** Of a run of marks: a second's work, and each of them is a token or nearly so. */
export const LONGEST_MARK_RUN = 1 << 20;

export function tooLongPiece(): AppError {
  return new AppError('context_length_exceeded', 'millions of characters of the text make one piece for the tokenizer');
}
