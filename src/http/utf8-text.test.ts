import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NotUtf8Error, Utf8Text } from './utf8-text.ts';

/** @param cuts lengths of the pieces; the last one is repeated */
function read(bytes: Buffer, cuts: readonly number[]): string | 'refused' {
  const text = new Utf8Text();
  try {
    let at = 0;
    for (let piece = 0; at < bytes.length; piece++) {
      const length = cuts[Math.min(piece, cuts.length - 1)] ?? 1;
      text.add(bytes.subarray(at, at + length));
      at += length;
    }
    return text.end();
  } catch (error) {
    if (error instanceof NotUtf8Error) return 'refused';
    throw error;
  }
}

function expected(bytes: Buffer): string | 'refused' {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return 'refused';
  }
}

const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 });

describe('Utf8Text', () => {
  it('reads text wherever it is cut', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    fc.assert(
      fc.property(text, cuts, (written, lengths) => {
        const bytes = Buffer.from(written);
        expect(read(bytes, lengths)).toBe(expected(bytes));
      }),
      { seed: 13 },
    );
  });

  it('refuses exactly what a strict decoder does', () => {
    const byte = fc.oneof(
      fc.nat(255),
      fc.constantFrom(0x20, 0x41, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xed),
    );
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 12 }), cuts, (bytes, lengths) => {
        expect(read(Buffer.from(bytes), lengths)).toBe(expected(Buffer.from(bytes)));
      }),
      { seed: 13, numRuns: 5000 },
    );
  });

  it('drops one byte order mark, cut or whole', () => {
    const bytes = Buffer.from('\ufeff\ufeff{}');
    for (const length of [1, 2, 3, 4, 99]) expect(read(bytes, [length])).toBe('\ufeff{}');
  });

  it('refuses a character without its end', () => {
    expect(read(Buffer.from('a€').subarray(0, 3), [99])).toBe('refused');
  });
});
