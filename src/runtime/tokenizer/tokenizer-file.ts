// Reads a tokenizer.json without holding half a million merges as objects: they are parsed a part at a time when they are
// asked for. Everything else is as JSON has it.

import type { Merge, Merges } from './byte-pair.ts';

const PART_MERGES = 4096;
const [QUOTE, BACKSLASH, OPEN, CLOSE, COMMA] = [...'"\\[],'].map((character) => character.charCodeAt(0));
/** The list's key cannot be within a string, where its quotes would be escaped; as a token it comes before a number. */
const KEY = '"merges"';
/** In the place of the list; no merge is null. */
const STAND_IN = '[null]';

interface MergesSpan {
  /** Of the list with its brackets. */
  readonly start: number;
  readonly end: number;
  readonly count: number;
  /** Where parts end: each before a comma, the last one before the bracket. */
  readonly partEnds: readonly number[];
}

/** @throws SyntaxError */
export function readTokenizerFile(bytes: Buffer): unknown {
  const start = findList(bytes);
  const span = start === undefined ? undefined : findSpan(bytes, start);
  if (span === undefined) return JSON.parse(bytes.toString());
  const rest = [bytes.subarray(0, span.start), Buffer.from(STAND_IN), bytes.subarray(span.end)];
  const file = JSON.parse(Buffer.concat(rest).toString()) as { readonly model?: { readonly merges?: unknown } };
  if (JSON.stringify(file.model?.merges) !== STAND_IN) return JSON.parse(bytes.toString());
  const merges: Merges = { length: span.count, [Symbol.iterator]: () => readParts(bytes, span) };
  return { ...file, model: { ...file.model, merges } };
}

function findList(bytes: Buffer): number | undefined {
  for (let at = bytes.indexOf(KEY); at >= 0; at = bytes.indexOf(KEY, at + 1)) {
    const value = /^\s*:\s*\[/u.exec(bytes.toString('latin1', at + KEY.length, at + KEY.length + 64));
    if (value !== null && bytes[at - 1] !== BACKSLASH) return at + KEY.length + value[0].length - 1;
  }
  return undefined;
}

/** @returns undefined when the list has no end or nothing in it */
function findSpan(bytes: Buffer, start: number): MergesSpan | undefined {
  const partEnds: number[] = [];
  let [depth, commas] = [0, 0];
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
    } else if (byte === OPEN) {
      depth += 1;
    } else if (byte === CLOSE) {
      depth -= 1;
      if (depth > 0) continue;
      const isEmpty = bytes.toString('latin1', start + 1, at).trim() === '';
      return isEmpty ? undefined : { start, end: at + 1, count: commas + 1, partEnds: [...partEnds, at] };
    } else if (byte === COMMA && depth === 1) {
      commas += 1;
      if (commas % PART_MERGES === 0) partEnds.push(at);
    }
  }
  return undefined;
}

function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

function* readParts(bytes: Buffer, { start, partEnds }: MergesSpan): Generator<Merge> {
  let from = start + 1;
  for (const end of partEnds) {
    yield* JSON.parse(`[${bytes.toString('utf8', from, end)}]`) as Merge[];
    from = end + 1;
  }
}
