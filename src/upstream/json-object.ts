// Reading JSON that an upstream wrote: nothing about its shape is taken for granted.

import { parsePlainJson } from '../domain/json.ts';

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @returns undefined when the text is not JSON or not an object */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = parsePlainJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
