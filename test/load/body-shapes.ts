// Bodies that an attacker would send: as large as may be, or larger, in shapes that cost most for each byte.

import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

export interface HostileBody {
  readonly name: string;
  readonly path: '/ai/v1/systemone' | '/ai/v1/embeddings' | '/ai/v1/chat/completions';
  readonly encoding?: string;
  readonly bytes: Buffer;
}

const MIB = 1024 * 1024;
const SIZE = 8 * MIB - 4096;
const MAX_VALUES = 99_000;

const [SYSTEMONE, EMBEDDINGS, CHAT] = ['/ai/v1/systemone', '/ai/v1/embeddings', '/ai/v1/chat/completions'] as const;

const fill = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));
const list = (piece: string, count: number): string => `[${`${piece},`.repeat(count - 1)}${piece}]`;
const names = (count: number, nameOf: (index: number) => string): string =>
  `{${Array.from({ length: count }, (_, index) => `"${nameOf(index)}":${index}`).join()}}`;

/** JSON values, each the largest of its kind. */
const VALUES: Readonly<Record<string, () => string>> = {
  'millions of objects': () => `[${fill('{},', SIZE - 2)}{}]`,
  'millions of lists': () => `[${fill('[],', SIZE - 2)}[]]`,
  'millions of numbers': () => `[${fill('0,', SIZE - 2)}0]`,
  'as many objects as may be': () => list('{}', MAX_VALUES / 2),
  'as many members as may be': () => list('{"a":1}', MAX_VALUES / 2),
  'as many names as may be': () => names(MAX_VALUES, (index) => `name ${index}`),
  'names that are indices': () => names(MAX_VALUES, (index) => String((index * 65_536) % 4_294_967_000)),
  'sparse indices': () => names(MAX_VALUES, (index) => String(index * 40_961)),
  'names with escapes': () => names(MAX_VALUES / 2, (index) => `\\u00e9\\"${index}`),
  'deep lists': () => list(`${'['.repeat(60)}1${']'.repeat(60)}`, Math.floor(MAX_VALUES / 61)),
  'deep objects': () => list(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`, Math.floor(MAX_VALUES / 61)),
  'too deep': () => '['.repeat(SIZE / 2),
  'one string': () => `"${fill('a', SIZE)}"`,
  'one string of three-byte characters': () => `"${fill('中', SIZE)}"`,
  'one string of pictures': () => `"${fill('😀', SIZE)}"`,
  'one string of escapes': () => `"${fill('\\u4e2d', SIZE)}"`,
  'one string of quotes': () => `"${fill('\\"', SIZE)}"`,
  'one string of backslashes': () => `"${fill('\\\\', SIZE)}"`,
  'one string without an end': () => `"${fill('a', SIZE)}`,
  'strings with escapes': () => list(`"${'\\n'.repeat(40)}"`, MAX_VALUES),
  'long numbers': () => list('1'.repeat(80), MAX_VALUES),
  'one number': () => fill('1', SIZE),
  fractions: () => list('0.12345678901234567890123456789e-300', MAX_VALUES),
  'white space': () => `${fill(' \n\t\r', SIZE)}0`,
  'a long name': () => `{"${fill('n', SIZE / 2)}":${list('1', 1000)}}`,
};

/** Bodies of each route with the value in a place where it is read. */
const PLACES: readonly (readonly [string, HostileBody['path'], (value: string) => string])[] = [
  [
    'state',
    SYSTEMONE,
    (value) => `{"model":"kev","state":${value},"questions":{"q":{"type":"noul","instructions":"?"}}}`,
  ],
  [
    'criteria',
    SYSTEMONE,
    (value) => `{"model":"kev","state":"x","questions":{"q":{"type":"choice","instructions":"?","criteria":${value}}}}`,
  ],
  ['questions', SYSTEMONE, (value) => `{"model":"kev","state":"x","questions":${value}}`],
  ['input', EMBEDDINGS, (value) => `{"model":"text-embed-mini","input":${value}}`],
  ['messages', CHAT, (value) => `{"model":"silent","messages":${value}}`],
  ['content', CHAT, (value) => `{"model":"silent","messages":[{"role":"user","content":${value}}]}`],
  ['tools', CHAT, (value) => `{"model":"silent","messages":[],"tools":${value}}`],
  ['nowhere', CHAT, (value) => `{"x":${value},"model":"silent","messages":[]}`],
];

const ENCODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  zstd: zstdCompressSync,
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
};

export function* hostileBodies(): Generator<HostileBody> {
  for (const [shape, make] of Object.entries(VALUES)) {
    const value = make();
    for (const [place, path, bodyOf] of PLACES) {
      const bytes = Buffer.from(bodyOf(value));
      // A decision may have a quarter of the bytes: larger ones are refused by their length alone.
      if (path === SYSTEMONE && bytes.length > 2 * MIB) continue;
      yield { name: `${shape} as ${place}`, path, bytes };
    }
  }
  yield* bombs();
}

function* bombs(): Generator<HostileBody> {
  for (const [encoding, encode] of Object.entries(ENCODERS)) {
    for (const piece of [' ', '{},', '"a",', '\\u4e2d']) {
      const bytes = encode(Buffer.from(`[${fill(piece, 64 * MIB)}`));
      yield { name: `a ${encoding} bomb of ${piece}`, path: CHAT, encoding, bytes };
    }
  }
}
