// A state as a list of parts, the form in which newer clients send one: `[{"type": "text", "text": "…"}]`. Pure.

import { isJsonObject, type JsonValue } from '../../domain/json.ts';

/** Between the texts of two parts. */
export const PART_SEPARATOR = '\n';

/**
 * The text of a list of text parts, one under the other. Other fields of a part are ignored.
 * @returns undefined for anything else, an empty list included
 */
export function findTextOfParts(state: unknown): string | undefined {
  if (!Array.isArray(state) || state.length === 0) return undefined;
  const texts: string[] = [];
  for (const part of state) {
    const text = findPartText(part);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts.join(PART_SEPARATOR);
}

/** @returns undefined unless it is `{"type": "text", "text": <string>}` */
export function findPartText(part: JsonValue): string | undefined {
  if (!isJsonObject(part) || part.get('type') !== 'text') return undefined;
  const text = part.get('text');
  return typeof text === 'string' ? text : undefined;
}
