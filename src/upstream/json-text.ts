// Edits single members of a JSON object in its text, so that everything else goes on as it came: order, unknown fields,
// big integers, `1.0`, duplicate and `__proto__` keys. Knows no field by name. Takes only text that a parser accepted.

import type { JsonMember } from '../domain/json.ts';

const STRUCTURE = /["[\]{}]/g;
const END_OF_SCALAR = /[,\]}\s]/g;
const NOT_SPACE = /\S/g;

/**
 * The members of the outermost object, in the order of the text, duplicates included.
 * @param text a valid JSON object; linear in its length, nesting costs no stack
 */
export function listMembers(text: string): JsonMember[] {
  const members: JsonMember[] = [];
  let at = search(NOT_SPACE, text, search(NOT_SPACE, text, 0) + 1);
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at);
    const colon = text.indexOf(':', keyEnd);
    const valueStart = search(NOT_SPACE, text, colon + 1);
    const valueEnd = endOfValue(text, valueStart);
    members.push({ key: String(JSON.parse(text.slice(at, keyEnd))), start: at, valueStart, valueEnd });
    const next = search(NOT_SPACE, text, valueEnd);
    if (text[next] !== ',') break;
    at = search(NOT_SPACE, text, next + 1);
  }
  return members;
}

/** Text of the value of the last member of that name (the one that counts), or undefined. */
export function findValue(text: string, members: readonly JsonMember[], key: string): string | undefined {
  const member = members.findLast((candidate) => candidate.key === key);
  return member && text.slice(member.valueStart, member.valueEnd);
}

/**
 * The object with some members set or removed; every other member keeps its exact text.
 * @param edits name → JSON text of the new value (set where it stands, else appended), or undefined: removed
 */
export function editMembers(
  text: string,
  members: readonly JsonMember[],
  edits: ReadonlyMap<string, string | undefined>,
): string {
  // Joined once, at the end: a text of megabytes is copied once then.
  const parts: string[] = [];
  const add = (...pieces: readonly string[]): void => {
    parts.push(parts.length === 0 ? '{' : ',', ...pieces);
  };
  const present = new Set<string>();
  for (const { key, start, valueStart, valueEnd } of members) {
    present.add(key);
    if (!edits.has(key)) {
      add(text.slice(start, valueEnd));
      continue;
    }
    const value = edits.get(key);
    if (value !== undefined) add(text.slice(start, valueStart), value);
  }
  for (const [key, value] of edits) {
    if (value !== undefined && !present.has(key)) add(`${JSON.stringify(key)}:`, value);
  }
  return parts.length === 0 ? '{}' : [...parts, '}'].join('');
}

/** Index of the first match at or after `from`; the text's length when there is none. */
function search(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

/** @param start index of the opening quote @returns index after the closing one */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

/** An odd number of backslashes before a quote makes it part of the string. */
function isEscaped(text: string, quote: number): boolean {
  let first = quote;
  while (text[first - 1] === '\\') first--;
  return (quote - first) % 2 === 1;
}

function endOfValue(text: string, start: number): number {
  if (text[start] === '"') return endOfString(text, start);
  if (text[start] !== '{' && text[start] !== '[') return search(END_OF_SCALAR, text, start);
  let depth = 0;
  let at = start;
  do {
    if (text[at] === '"') at = endOfString(text, at);
    else {
      depth += text[at] === '{' || text[at] === '[' ? 1 : -1;
      at++;
    }
    if (depth > 0) at = search(STRUCTURE, text, at);
  } while (depth > 0);
  return at;
}
