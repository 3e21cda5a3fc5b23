// From the bytes of a body to JSON, with the same rules everywhere: UTF-8, strict grammar, bounded nesting. Two ways:
// plain objects by the built-in parser, or ordered Maps where names are data.

import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { AppError } from '../domain/errors.ts';
import { JsonSyntaxError, type JsonValue, MAX_JSON_DEPTH, parseOrderedJson } from './ordered-json.ts';

// A byte order mark is dropped; bytes that are no UTF-8 are refused rather than replaced, for they would be judged as text.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** An `onRequest` hook. Unpacking would let a few bytes become gigabytes; bodies of this API are small. */
export function refuseEncodedBody(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw new AppError('invalid_request', 'The body must be sent without Content-Encoding.');
  }
  done();
}

/** @throws AppError `invalid_request` */
export function parseOrderedBody(body: Buffer): JsonValue {
  return parseOrdered(decode(body));
}

/** Names given twice: the last one counts. @throws AppError `invalid_request` */
export function parsePlainBody(body: Buffer): unknown {
  if (isTooDeep(body)) throw invalidJson(`more than ${MAX_JSON_DEPTH} levels of nesting`);
  const text = decode(body);
  try {
    return JSON.parse(text);
  } catch {
    // The built-in parser's message quotes the text, ours does not.
    parseOrdered(text);
    throw invalidJson('syntax error');
  }
}

function parseOrdered(text: string): JsonValue {
  try {
    return parseOrderedJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw invalidJson(error.message);
    throw error;
  }
}

function decode(body: Buffer): string {
  if (body.length === 0) throw new AppError('invalid_request', 'The body is empty; it must be a JSON object.');
  try {
    return utf8.decode(body);
  } catch {
    throw new AppError('invalid_request', 'The body is not valid UTF-8.');
  }
}

function invalidJson(problem: string): AppError {
  return new AppError('invalid_request', `The body is not valid JSON: ${problem}.`);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Counts brackets outside strings. The built-in parser takes any depth, but whatever walks its result afterwards does
 * not. On text that is no JSON the count may be off; the parser then refuses it anyway.
 */
function isTooDeep(body: Buffer): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (inString) {
      if (byte === BACKSLASH) i += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) return true;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    }
  }
  return false;
}
