// Reading JSON that an upstream wrote: nothing about its shape is taken for granted.

import { isRecord, parsePlainJson } from '../domain/json.ts';

/** @returns undefined when the text is not JSON or not an object */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = parsePlainJson(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
