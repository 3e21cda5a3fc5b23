// A JSON state as labelled lines, for servers that allow one: `customer name: Jane`. Pure. Off by default, because the
// protocol's state is a string.

import { isList, isObject, type JsonValue } from '../../domain/json.ts';
import { findPartText, PART_SEPARATOR } from './state-parts.ts';

/** @returns the body with an object or array in `state` replaced by text; any other body as it is */
export function withStateAsText(body: JsonValue): JsonValue {
  if (!isObject(body)) return body;
  const state = body.get('state');
  if (state === undefined || !(isObject(state) || isList(state))) return body;
  // A name that is there keeps its place.
  return new Map(body).set('state', renderParts(state) ?? renderState(state));
}

/** A list of text and JSON parts, each read as if it were the whole state. @returns undefined for anything else */
function renderParts(state: JsonValue): string | undefined {
  if (!isList(state) || state.length === 0) return undefined;
  const texts: string[] = [];
  for (const part of state) {
    const text = findPartText(part) ?? renderJsonPart(part);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts.join(PART_SEPARATOR);
}

/** @returns undefined unless it is `{"type": "json", "value": …}` */
function renderJsonPart(part: JsonValue): string | undefined {
  if (!isObject(part) || part.get('type') !== 'json') return undefined;
  const value = part.get('value');
  return value === undefined ? undefined : renderState(value);
}

/**
 * One line for each value, in the order of the text. Labels are the names on the way to it, list places counted from 1;
 * a list of plain values is one line.
 */
export function renderState(state: JsonValue): string {
  return renderLines(state, []).join('\n');
}

function renderLines(value: JsonValue, label: readonly string[]): string[] {
  if (isObject(value) && value.size > 0) {
    return [...value].flatMap(([name, inner]) => renderLines(inner, [...label, name]));
  }
  if (isList(value) && value.some((inner) => isObject(inner) || isList(inner))) {
    return value.flatMap((inner, index) => renderLines(inner, [...label, String(index + 1)]));
  }
  const text = renderPlain(value);
  return [label.length === 0 ? text : `${label.join(' ')}: ${text}`.trimEnd()];
}

function renderPlain(value: JsonValue): string {
  if (isObject(value)) return '';
  if (isList(value)) return value.map(renderPlain).join(', ');
  return value === null ? 'none' : String(value);
}
