// What a text or a time may be that people hand in and that is shown again in tables, terminals and CSV. Pure.

export const MAX_MODEL_LENGTH = 256;
/** For messages. */
export const MODEL_RULE = `A model has 1 to ${MAX_MODEL_LENGTH} characters, none of them control characters.`;

/** The last millisecond of the year 9999: later ones have no date with four digits of year. */
const MAX_TIME_MS = 253_402_300_799_999;

// Control characters, halves of surrogate pairs, line separators, and what turns the direction of text.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

/** The same for readers of `/openapi.json`, in what every engine of regular expressions knows. */
export const PRINTABLE_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$';

export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** Whether it can be the id of a model, or a pattern of ids. */
export function isModelText(text: string): boolean {
  return text !== '' && text.length <= MAX_MODEL_LENGTH && isPrintable(text);
}

/** Milliseconds since the epoch, up to the year 9999. */
export function isTime(ms: number): boolean {
  return Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_TIME_MS;
}
