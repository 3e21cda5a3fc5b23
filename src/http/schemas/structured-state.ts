// A JSON state as labelled lines, for servers that allow one: `customer name: Jane`. Pure. Off by default, because the
// protocol's state is a string.

import type { JsonObject, JsonValue } from '../ordered-json.ts';

/** @returns the body with an object or array in `state` replaced by text; any other body as it is */
export function withStateAsText(body: JsonValue): JsonValue {
  if (!isObject(body)) return body;
  const state = body.get('state');
  if (state === undefined || !(isObject(state) || isList(state))) return body;
  // A name that is there keeps its place.
  return new Map(body).set('state', renderState(state));
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

function isObject(value: JsonValue): value is JsonObject {
  return value instanceof Map;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
