// The format of a secret: `ump_`, 32 random base62 characters (190 bits), 6 characters of checksum. Pure but for the
// random source; what a secret is worth, keys.ts decides.

import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'ump_';
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const VISIBLE_LENGTH = PREFIX.length + 4;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

export function createSecret(): string {
  const random = randomBase62(RANDOM_LENGTH);
  return PREFIX + random + checksum(random);
}

/** @param length in characters of 5.95 bits each */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/** Whether the text can be one of our secrets: a typo is told from a key without asking the store. */
export function isWellFormedSecret(text: string): boolean {
  if (!SECRET.test(text)) return false;
  const random = text.slice(PREFIX.length, -CHECKSUM_LENGTH);
  return text.endsWith(checksum(random));
}

/** SHA-256, lower-case hex. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}

/** The part that may be shown: `ump_Ab3d`. */
export function visiblePrefixOf(secret: string): string {
  return secret.slice(0, VISIBLE_LENGTH);
}

function checksum(random: string): string {
  let rest = crc32(random);
  let text = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = ALPHABET[rest % ALPHABET.length] + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
