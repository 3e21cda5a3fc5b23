// A JSON state as labelled lines, for servers that allow one: `customer name: Jane`. Pure. Off by default, because the
// protocol's state is a string.

import { AppError } from '../../domain/errors.ts';
import { isJsonObject, isList, type JsonValue } from '../../domain/json.ts';
import { findPartText, PART_SEPARATOR } from './state-parts.ts';

/** Of a state that is no string: what no model reads in any case. */
const MAX_TEXT_LENGTH = 2 * 1024 * 1024;

/** @returns the body with an object or array in `state` replaced by text; any other body as it is */
export function withStateAsText(body: JsonValue): JsonValue {
  if (!isJsonObject(body)) return body;
  const state = body.get('state');
  if (state === undefined || !(isJsonObject(state) || isList(state))) return body;
  // A name that is there keeps its place.
  return new Map(body).set('state', renderParts(state) ?? renderState(state));
}

/** A list of text and JSON parts, each read as if it were the whole state. @returns undefined for anything else */
function renderParts(state: JsonValue): string | undefined {
  if (!isList(state) || state.length === 0) return undefined;
  const lines = new Lines();
  for (const part of state) {
    const text = findPartText(part);
    const json = text === undefined ? findJsonPart(part) : undefined;
    if (text !== undefined) lines.add(text);
    else if (json !== undefined) addLines(lines, json, '');
    else return undefined;
  }
  return lines.text();
}

/** @returns undefined unless it is `{"type": "json", "value": …}` */
function findJsonPart(part: JsonValue): JsonValue | undefined {
  return isJsonObject(part) && part.get('type') === 'json' ? part.get('value') : undefined;
}

/**
 * One line for each value, in the order of the text. Labels are the names on the way to it, list places counted from 1;
 * a list of plain values is one line.
 */
export function renderState(state: JsonValue): string {
  const lines = new Lines();
  addLines(lines, state, '');
  return lines.text();
}

/** Names stand in every line below them: a few long ones would become far more text than the body had. */
class Lines {
  readonly #lines: string[] = [];
  #length = 0;

  add(line: string): void {
    this.#length += line.length + 1;
    if (this.#length > MAX_TEXT_LENGTH) {
      const most = MAX_TEXT_LENGTH.toLocaleString('en-US');
      const message = `The field 'state' makes more than ${most} characters of labelled lines.`;
      throw new AppError('request_too_large', message, { param: 'state' });
    }
    this.#lines.push(line);
  }

  text(): string {
    return this.#lines.join(PART_SEPARATOR);
  }
}

/** @param label ends with a space, unless it is empty */
function addLines(lines: Lines, value: JsonValue, label: string): void {
  if (isJsonObject(value) && value.size > 0) {
    for (const [name, inner] of value) addLines(lines, inner, `${label}${name} `);
  } else if (isList(value) && value.some((inner) => isJsonObject(inner) || isList(inner))) {
    for (const [index, inner] of value.entries()) addLines(lines, inner, `${label}${index + 1} `);
  } else {
    const text = renderPlain(value);
    lines.add(label === '' ? text : `${label.slice(0, -1)}: ${text}`.trimEnd());
  }
}

function renderPlain(value: JsonValue): string {
  if (isJsonObject(value)) return '';
  if (isList(value)) return value.map(renderPlain).join(', ');
  return value === null ? 'none' : String(value);
}
