// What the fuzzer sends, made of a seed and a number alone, so that a case can be made again: raw bytes, shapes of HTTP,
// bodies.

import { METHODS } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { RandomSource } from '../models/random-source.ts';
import {
  adminRequest,
  authorization,
  type HttpRequest,
  INFERENCE_BODIES,
  INFERENCE_PATHS,
  type Keys,
  TEXTS,
  toBytes,
  validRequest,
} from './valid-requests.ts';

export const CASE_KINDS = ['raw', 'http', 'bodies'] as const;
export type CaseKind = (typeof CASE_KINDS)[number];

export interface FuzzCase {
  readonly number: number;
  readonly kind: CaseKind;
  readonly bytes: Buffer;
  /** Sent in so many pieces, with a short wait between them. */
  readonly pieces: number;
  /** Whether the client says that nothing more comes. */
  readonly isHalfClosed: boolean;
  /** Whether it takes in nothing of what comes. */
  readonly isDeaf: boolean;
  /** The client leaves after that long; undefined: it waits for the end. */
  readonly leavesAfterMs: number | undefined;
}

/** Two neighbours have nothing in common. */
const STRIDE = 7919;

export function makeCase(seed: number, number: number, kinds: readonly CaseKind[], keys: Keys): FuzzCase {
  const random = new RandomSource(seed * STRIDE + number);
  const kind = random.pick(kinds);
  return {
    number,
    kind,
    bytes: MAKERS[kind](random, keys),
    pieces: random.chance(0.1) ? random.whole(2, 6) : 1,
    isHalfClosed: random.chance(0.3),
    isDeaf: random.chance(0.02),
    leavesAfterMs: random.chance(0.1) ? random.whole(0, 300) : undefined,
  };
}

const MAKERS: Readonly<Record<CaseKind, (random: RandomSource, keys: Keys) => Buffer>> = {
  raw: rawBytes,
  http: httpShape,
  bodies: brokenBody,
};

function noise(random: RandomSource, maxLength: number): Buffer {
  return Buffer.from(Array.from({ length: random.scaled(1, maxLength) }, () => random.whole(0, 255)));
}

/** Noise, or good requests one after another with some bytes of them changed. */
function rawBytes(random: RandomSource, keys: Keys): Buffer {
  if (random.chance(0.15)) return noise(random, 4096);
  const requests = Array.from({ length: random.chance(0.3) ? random.scaled(2, 40) : 1 }, () =>
    toBytes(validRequest(random, keys)),
  );
  let bytes: Buffer = Buffer.concat(requests);
  for (let edits = random.whole(0, 6); edits > 0; edits--) bytes = edit(random, bytes);
  return bytes;
}

const PIECES = [
  '\r\n',
  '\n',
  '\r\n\r\n',
  ' ',
  ':',
  '\u0000',
  'chunked',
  '0\r\n\r\n',
  '-1',
  '99999999999',
  '{',
  '"',
  '\\u',
];

function edit(random: RandomSource, bytes: Buffer): Buffer {
  const at = random.whole(0, bytes.length);
  const before = bytes.subarray(0, at);
  const after = bytes.subarray(at);
  const length = Math.min(random.scaled(1, 64), after.length);
  switch (random.whole(0, 4)) {
    case 0:
      return Buffer.concat([before, noise(random, 3), after.subarray(1)]);
    case 1:
      return Buffer.concat([before, after.subarray(length)]);
    case 2:
      return Buffer.concat([before, Buffer.from(random.pick(PIECES)), after]);
    case 3:
      return Buffer.concat([before, after.subarray(0, length), after]);
    default:
      return Buffer.from(before);
  }
}

const SOME_METHODS = [...METHODS, 'BREW', 'get', 'X'];
const SOME_PATHS = [
  ...[
    '/',
    '*',
    '/healthz',
    '/ai/v1/models',
    '/ai/v1/models/x',
    '/ai/v1/systemone',
    '/ai/v1/rerank',
    '/ai/v2/rerank',
    '/ai/v1/chat/completions',
    '/v1/models',
  ],
  ...[
    '/admin/v1/keys',
    '/admin/v1/keys/key_1',
    '/%',
    '/%00',
    '//',
    '/ai/v1/../healthz',
    'http://x/healthz',
    'x:1',
    '/?%zz',
    '/é',
  ],
];
const SOME_HEADERS = [
  ...[
    'host',
    'expect',
    'connection',
    'content-length',
    'transfer-encoding',
    'content-type',
    'content-encoding',
    'upgrade',
  ],
  ...[
    'x-request-id',
    'idempotency-key',
    'x-umpire-deadline-ms',
    'accept',
    'accept-encoding',
    'te',
    'trailer',
    'cookie',
  ],
];
const SOME_VALUES = [
  ...[
    '',
    'x',
    '0',
    '2',
    '-1',
    '1e3',
    '18446744073709551616',
    'chunked',
    'gzip, chunked',
    'identity',
    'gzip',
    'zstd',
    'br',
  ],
  ...[
    'close',
    'keep-alive',
    'Upgrade',
    'websocket',
    'application/json',
    'text/plain;charset=utf-16',
    '100-continue',
    'no',
  ],
];

/** Any method on any path, with heads that contradict themselves. */
function httpShape(random: RandomSource, keys: Keys): Buffer {
  const names = Array.from({ length: random.whole(0, 6) }, () => random.pick(SOME_HEADERS));
  const headers = names.map(
    (name) => `${name}: ${random.chance(0.9) ? random.pick(SOME_VALUES) : random.pick(TEXTS)}\r\n`,
  );
  const secret = random.pick([keys.inference, keys.admin, keys.poor, 'ump_nobody', '']);
  const host = random.chance(0.9) ? 'host: x\r\n' : '';
  const who = random.chance(0.8) ? `authorization: Bearer ${secret}\r\n` : '';
  const long = random.chance(0.05) ? `x: ${'y'.repeat(random.scaled(1, 30_000))}\r\n` : '';
  const body = random.pick(['', '{}', '2\r\n{}\r\n0\r\n\r\n', 'fffffffff\r\n', '{"model":"kev"}']);
  const line = `${random.pick(SOME_METHODS)} ${random.pick(SOME_PATHS)} HTTP/${random.pick(['1.1', '1.1', '1.1', '1.0', '2.0'])}`;
  return Buffer.from(`${line}\r\n${host}${who}${headers.join('')}${long}\r\n${body}`, 'latin1');
}

const ODD_VALUES: readonly unknown[] = [
  ...[null, true, 0, -1, 1e308, 0.1, 2 ** 53, '', 'x', [], {}, [null], [[]], { a: 1 }, 'NaN', '\u0000', '1e999'],
];

/** What `PATCH`, `POST` and reports of the admin routes are sent, and what stands in queries. */
const ODD_QUERIES = [
  ...[
    '?',
    '?limit=0',
    '?limit=1e3',
    '?cursor=%00',
    '?cursor=9',
    '?from=0000-01-01',
    '?to=9999-12-31T23:59:60Z',
    '?from=x',
  ],
  ...[
    '?group_by=key,day',
    '?group_by=day,hour',
    '?format=csv',
    '?model=%ff',
    '?key=%27--',
    '?endpoint=%0d%0a',
    '?a=b&a=c',
  ],
];

/** A good body with members changed, taken away, added, nested or multiplied; packed, cut, or with a lie about it. */
function brokenBody(random: RandomSource, keys: Keys): Buffer {
  if (random.chance(0.15)) return toBytes(brokenAdminRequest(random, keys));
  const path = random.pick(INFERENCE_PATHS);
  const value = INFERENCE_BODIES[path](random) as Json;
  for (let changes = random.whole(0, 3); changes > 0; changes--) change(random, value);
  let body: Buffer = Buffer.from(random.chance(0.1) ? enormous(random) : JSON.stringify(value));
  if (random.chance(0.1)) body = edit(random, body);
  const packing = random.chance(0.25) ? pack(random, body) : { body, headers: [] };
  const secret = random.pick([keys.inference, keys.inference, keys.inference, keys.poor, 'ump_nobody']);
  const request: HttpRequest = {
    method: 'POST',
    path,
    headers: [authorization(secret), ['content-type', 'application/json'], ...packing.headers],
    body: packing.body,
  };
  return toBytes(request);
}

function brokenAdminRequest(random: RandomSource, keys: Keys): HttpRequest {
  const request = adminRequest(random, keys);
  if (request.body === undefined) return { ...request, path: request.path.replace(/\?.*|$/, random.pick(ODD_QUERIES)) };
  const value = JSON.parse(request.body.toString()) as Json;
  for (let changes = random.whole(1, 3); changes > 0; changes--) change(random, value);
  return { ...request, body: Buffer.from(JSON.stringify(value)) };
}

type Json = Record<string, unknown>;

function change(random: RandomSource, value: Json): void {
  let target = value;
  for (let depth = random.whole(0, 3); depth > 0; depth--) {
    const inner = Object.values(target).filter(
      (member): member is Json => typeof member === 'object' && member !== null,
    );
    if (inner.length === 0) break;
    target = random.pick(inner);
  }
  const names = Object.keys(target);
  const name = names.length > 0 && random.chance(0.8) ? random.pick(names) : random.pick(TEXTS);
  if (random.chance(0.2)) delete target[name];
  else Object.defineProperty(target, name, { value: structuredClone(random.pick(ODD_VALUES)), ...OPEN });
}

const OPEN = { enumerable: true, configurable: true, writable: true } as const;

/** Small to send and much to build: what stalls a parser that is not bounded. */
function enormous(random: RandomSource): string {
  const count = random.scaled(10, 2_600_000);
  const model = '{"model":"tiny-decision","state":';
  return random.pick([
    () => '['.repeat(count),
    () => `${model}${'{"a":'.repeat(count)}`,
    () => `{"model":"tiny-embedding","input":[${'{},'.repeat(count)}{}]}`,
    () => `{"model":"tiny-embedding","input":[${'"",'.repeat(count)}""]}`,
    () => `{"model":"bert-reranker","query":"a","documents":[${'{"text":"a"},'.repeat(count)}""]}`,
    () => `{"model":"bert-reranker","query":"${'x'.repeat(count * 20)}","documents":["a","b"]}`,
    () => `{"messages":[${'[],'.repeat(count)}[]],"model":"chat-counted"}`,
    () => `${model}"${'\\u0061'.repeat(count)}"}`,
    () => `{${Array.from({ length: Math.min(count, 100_000) }, (_, i) => `"n${i}":${i}`).join(',')}}`,
    () => `${model}${'9'.repeat(count)}}`,
    () => `${model}"${'x'.repeat(count * 20)}","questions":{"q":{"type":"noul","instructions":"?"}}}`,
  ])();
}

const PACKERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gzipSync(body),
  deflate: (body) => deflateSync(body),
  br: (body) => brotliCompressSync(body),
  zstd: (body) => zstdCompressSync(body),
  identity: (body) => body,
};

function pack(random: RandomSource, plain: Buffer): Pick<HttpRequest, 'headers'> & { readonly body: Buffer } {
  const [name, packer] = random.pick(Object.entries(PACKERS));
  // A bomb: a thousandth of its size on the wire.
  const whole = random.chance(0.1) ? packer(Buffer.alloc(random.scaled(1e5, 4e7), 0x20)) : packer(plain);
  const body = random.chance(0.2) ? edit(random, whole) : whole;
  return { body, headers: [['content-encoding', random.chance(0.9) ? name : random.pick(SOME_VALUES)]] };
}
