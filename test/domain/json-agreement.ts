// Our parser beside the oracle, on generated texts: the same values and the same refusals, whatever was parsed before.

import fc from 'fast-check';
import { expect } from 'vitest';
import { JsonReading, JsonSyntaxError, parseOrderedJson, parsePlainJson } from '../../src/domain/json.ts';
import { hasDuplicates, readTree, toMaps, toObjects } from './json-oracle.ts';

export interface AgreementRun {
  readonly seed: number;
  readonly numRuns: number;
}

const REFUSED = 'refused';

function outcome(parse: () => unknown): unknown {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return REFUSED;
    throw error;
  }
}

/** With pauses after every few hundred values. */
function parseInTurns(text: string): unknown {
  const reading = new JsonReading(text, { objects: 'plain', duplicates: 'last' });
  while (!reading.advance(0));
  return reading.value;
}

function expectAgreement(text: string): void {
  const tree = readTree(text);
  const plain = tree === undefined ? REFUSED : { value: toObjects(tree) };
  const ordered = tree === undefined || hasDuplicates(tree) ? REFUSED : { value: toMaps(tree) };
  expect(outcome(() => parsePlainJson(text))).toEqual(plain);
  expect(outcome(() => parseInTurns(text))).toEqual(plain);
  const read = outcome(() => parseOrderedJson(text));
  expect(read).toEqual(ordered);
  // Equal Maps may differ in their order.
  expect(namesOf(read)).toEqual(namesOf(ordered));
}

function namesOf(value: unknown): unknown {
  if (value instanceof Map) return [...value].map(([name, inner]) => [name, namesOf(inner)]);
  if (Array.isArray(value)) return value.map(namesOf);
  return typeof value === 'object' && value !== null && 'value' in value ? namesOf(value.value) : null;
}

const TOKENS = [
  ...['{', '}', '[', ']', ',', ':', '"', '\\', '"a"', '"\\u00e9"', '"\\ud800"', '"\\x"', '"\\u12"', '"\\"', '\\"'],
  ...['0', '-0', '01', '1.', '.5', '1.5e3', '1e+', '-', '1E-400', '9e999', 'true', 'false', 'null', 'nul', 'NaN'],
  ...[' ', '\n', '\t', '\r', '\f', '\u00a0', '\ufeff', '\u0000', '"\u0001"', '"\u007f"', '"\u2028"', '/**/', "'a'"],
];

/** What JSON.stringify writes. */
export function agreesOnJson(run: AgreementRun): void {
  const indent = fc.constantFrom(undefined, 1, '\t');
  const property = fc.property(fc.jsonValue({ maxDepth: 8 }), indent, (value, space) => {
    expectAgreement(JSON.stringify(value, null, space));
  });
  fc.assert(property, run);
}

/** Tokens in any order: mostly no JSON. */
export function agreesOnTokens(run: AgreementRun): void {
  const tokens = fc.array(fc.constantFrom(...TOKENS), { maxLength: 12 });
  fc.assert(
    fc.property(tokens, (some) => expectAgreement(some.join(''))),
    run,
  );
}

/** JSON with one character changed. */
export function agreesOnChangedJson(run: AgreementRun): void {
  const character = fc.constantFrom('', '"', '\\', ',', '{', ']', '\n', '0', 'e', '-');
  const property = fc.property(fc.json({ maxDepth: 4 }), fc.nat(), character, (json, at, changed) => {
    const index = at % (json.length + 1);
    expectAgreement(json.slice(0, index) + changed + json.slice(index + 1));
  });
  fc.assert(property, run);
}

/** Names of a few pieces with and without escapes, in one shape of object: what the built-in parser confuses. */
export function agreesOnNames(run: AgreementRun): void {
  const piece = fc.constantFrom('a', ' ', '\\\\', '\\"', '\\u0061', '\\n', '\\/', 'é', '\\u00e9');
  const name = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  const text = fc.tuple(name, name).map(([first, second]) => `{"n":null,"${first}":false,"z":{"${second}":1}}`);
  const texts = fc.array(text, { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(texts, (some) => some.forEach(expectAgreement)),
    run,
  );
}
