// Reads whatever came back on a connection as HTTP replies, and says what is wrong with them.

import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { type ErrorCode, errorCatalogue } from '../../src/domain/errors.ts';
import { errorBodySchema } from '../../src/http/schemas/error-body.ts';

export interface Verdict {
  /** Of every whole reply, in their order. */
  readonly statuses: readonly number[];
  /** Codes of those with a status of 500 and more. */
  readonly failures: readonly ErrorCode[];
  /** Sentences; empty when all is well. */
  readonly faults: readonly string[];
}

interface RawReply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** undefined: it was cut. */
  readonly body: string | undefined;
}

const HEAD = /^HTTP\/1\.1 (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/;
const NEEDS_RETRY_AFTER: ReadonlySet<ErrorCode> = new Set(['overloaded', 'store_unavailable', 'rate_limit_exceeded']);
const MAX_SHOWN = 160;

/** @param text as `latin1`, so that a character is a byte */
export function judge(text: string): Verdict {
  const { replies, faults } = parseReplies(text);
  const judged = replies.filter(({ status }) => status >= 200).map(judgeReply);
  return {
    statuses: replies.map(({ status }) => status).filter((status) => status >= 200),
    failures: judged.flatMap(({ failure }) => failure ?? []),
    faults: [...faults, ...judged.flatMap((one) => one.faults)],
  };
}

function parseReplies(text: string): { replies: RawReply[]; faults: string[] } {
  const replies: RawReply[] = [];
  let rest = text;
  while (rest !== '') {
    const match = HEAD.exec(rest);
    if (match === null) {
      const isCut = 'HTTP/1.1 '.startsWith(rest.slice(0, 9)) || /^HTTP\/1\.1 \d{3}/.test(rest);
      return { replies, faults: isCut ? [] : [`no reply: ${JSON.stringify(rest.slice(0, MAX_SHOWN))}`] };
    }
    const headers = parseHeaders(match[2] ?? '');
    const status = Number(match[1]);
    const { body, length } = takeBody(status, headers, rest.slice(match[0].length));
    replies.push({ status, headers, body });
    rest = rest.slice(match[0].length + length);
  }
  return { replies, faults: [] };
}

function parseHeaders(lines: string): Map<string, string> {
  const pairs = lines.split('\r\n').filter(Boolean);
  return new Map(
    pairs.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
}

function takeBody(
  status: number,
  headers: ReadonlyMap<string, string>,
  rest: string,
): { body: string | undefined; length: number } {
  // Of a reply to HEAD the length is that of a body which does not come.
  if (status < 200 || status === 204 || rest === '' || rest.startsWith('HTTP/1.1 ')) return { body: '', length: 0 };
  if (headers.get('transfer-encoding') === 'chunked') return takeChunks(rest);
  const length = Number(headers.get('content-length') ?? Number.NaN);
  // Without a length it goes on to the end of the connection.
  if (Number.isNaN(length)) return { body: rest, length: rest.length };
  return { body: rest.length < length ? undefined : rest.slice(0, length), length: Math.min(length, rest.length) };
}

function takeChunks(rest: string): { body: string | undefined; length: number } {
  let body = '';
  let at = 0;
  for (;;) {
    const size = /^([0-9a-f]+)\r\n/i.exec(rest.slice(at, at + 20));
    if (size === null) return { body: undefined, length: rest.length };
    const length = Number.parseInt(size[1] ?? '', 16);
    at += size[0].length;
    body += rest.slice(at, at + length);
    at += length + 2;
    if (at > rest.length) return { body: undefined, length: rest.length };
    if (length === 0) return { body, length: at };
  }
}

const UNPACKERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gunzipSync(bytes),
  deflate: (bytes) => inflateSync(bytes),
  br: (bytes) => brotliDecompressSync(bytes),
  zstd: (bytes) => zstdDecompressSync(bytes),
};

/** @returns as it came where it says to be packed and is not */
function unpack({ headers, body }: RawReply): string | undefined {
  const unpacker = UNPACKERS[headers.get('content-encoding') ?? ''];
  if (unpacker === undefined || body === undefined || body === '') return body;
  try {
    return unpacker(Buffer.from(body, 'latin1')).toString();
  } catch {
    return body;
  }
}

function judgeReply(reply: RawReply): { failure: ErrorCode | undefined; faults: string[] } {
  const { status, headers } = reply;
  const body = unpack(reply);
  const faults = headers.has('x-request-id') ? [] : [`a reply ${status} has no request id`];
  if (status < 400 || body === undefined || body === '') return { failure: undefined, faults };
  // `/readyz` says why in a body of its own.
  if (status === 503 && body.startsWith('{"status":')) return { failure: undefined, faults };
  const error = findError(body);
  if (error === undefined)
    return { failure: undefined, faults: [...faults, `${status} in no shape: ${body.slice(0, MAX_SHOWN)}`] };
  if (errorCatalogue[error].status !== status) faults.push(`${status} with the code ${error}`);
  if (error === 'internal_error') faults.push(`500: ${body}`);
  if (NEEDS_RETRY_AFTER.has(error) && !headers.has('retry-after'))
    faults.push(`${status} ${error} without Retry-After`);
  return { failure: status >= 500 ? error : undefined, faults };
}

function findError(body: string): ErrorCode | undefined {
  try {
    const { code } = errorBodySchema.parse(JSON.parse(body)).error;
    return code in errorCatalogue ? code : undefined;
  } catch {
    return undefined;
  }
}
