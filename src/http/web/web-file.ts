// One file as browsers get it: its bytes in every encoding, packed once, with the tags that caches compare.

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** In the order in which we like them. */
export const WEB_ENCODINGS = ['br', 'gzip', 'identity'] as const;
export type WebEncoding = (typeof WEB_ENCODINGS)[number];

export interface WebFile {
  readonly contentType: string;
  readonly bodies: Readonly<Record<WebEncoding, Buffer>>;
  /** Of the content: the same for every encoding. */
  readonly hash: string;
}

const HASH_LENGTH = 16;
/** One below the best, which takes ten times as long for a hundredth less. */
const BROTLI_QUALITY = 9;

const packBrotli = promisify(brotliCompress);
const packGzip = promisify(gzip);

/** @returns 64 bits of SHA-256, as hexadecimal digits */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
}

export async function packWebFile(text: string, contentType: string): Promise<WebFile> {
  const identity = Buffer.from(text);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: identity.length,
  };
  const [br, packed] = await Promise.all([packBrotli(identity, { params }), packGzip(identity)]);
  return { contentType, bodies: { br, gzip: packed, identity }, hash: hashOf(text) };
}
