// The native tokenizer, the JavaScript one and the reference library (models/training/fixtures/native_cases.py) on the
// same texts. Without a compiler there is no native one: then this file says so, and the JavaScript one is still tested.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAddon, loadAddon } from '../../../src/runtime/native.ts';
import { BertTokenizer } from '../../../src/runtime/tokenizer/bert-tokenizer.ts';
import { addVocabulary, NativeTokenizer } from '../../../src/runtime/tokenizer/native-tokenizer.ts';
import { openTokenizer, tellTokenizer } from '../../../src/runtime/tokenizer/open-tokenizer.ts';
import type { WordPieceTokenizer } from '../../../src/runtime/tokenizer/tokenizer.ts';
import { readPackedJson } from '../../models/packed-json.ts';
import { readShippedTokenizer } from '../../models/shipped-tokenizer.ts';

interface Group {
  readonly name: string;
  /** Of the normaliser's settings. */
  readonly changes: object;
  /** Either: spans are id, start and end of each token. */
  readonly cases: readonly { readonly text: string; readonly ids?: number[]; readonly spans?: number[] }[];
}

interface TokenizerFile {
  readonly normalizer: object;
}

const root = new URL('../../../', import.meta.url);
const modelFolder = fileURLToPath(new URL('models/kev', root));
const readJson = (path: string): unknown => JSON.parse(readFileSync(new URL(path, root), 'utf8'));
const shipped = readShippedTokenizer('kev') as TokenizerFile;
const groups = readPackedJson(new URL('test/native/fixtures/cases.json.br', root)) as Group[];
const codePointSums = readJson('test/native/fixtures/code-points.json') as Record<string, string[]>;

const loaded = await loadAddon();
const addon = isAddon(loaded) ? loaded : undefined;
if (!isAddon(loaded)) process.stderr.write(`SKIPPED: everything about the native tokenizer: ${loaded.reason}\n`);

function makeNative(changes: object): NativeTokenizer {
  if (addon === undefined) throw new Error('there is no addon');
  const file = { ...shipped, normalizer: { ...shipped.normalizer, ...changes } };
  return new NativeTokenizer(addon, addVocabulary(addon, JSON.stringify(changes), file), file);
}

function makeScript(changes: object): BertTokenizer {
  return new BertTokenizer({ ...shipped, normalizer: { ...shipped.normalizer, ...changes } });
}

const kinds: { kind: string; make: (changes: object) => WordPieceTokenizer }[] = [
  { kind: 'javascript', make: makeScript },
];
if (addon !== undefined) kinds.push({ kind: 'native', make: makeNative });

function sumOfPlane(tokenizer: WordPieceTokenizer, form: string, plane: number): string {
  const numbers: number[] = [];
  for (let codePoint = plane << 16; codePoint < (plane + 1) << 16; codePoint++) {
    const ids = tokenizer.encode(form.replace('{}', () => String.fromCodePoint(codePoint)));
    numbers.push(ids.length, ...ids);
  }
  return createHash('sha256').update(Int32Array.from(numbers)).digest('hex').slice(0, 16);
}

describe.each(kinds)('the $kind tokenizer', ({ make }) => {
  it.each(groups)('gives the ids of the reference, $name', ({ changes, cases }) => {
    const tokenizer = make(changes);
    for (const { text, ids, spans = [] } of cases) {
      const wanted = ids ?? spans.filter((_, place) => place % 3 === 0);
      expect([...tokenizer.encode(text)], JSON.stringify(text)).toEqual(wanted);
    }
  });

  // The other planes have next to nothing in them; tokenizer_fuzz.py --code-points reads them too.
  it.each([0, 1, 2, 14])(
    'gives the ids of the reference for every code point of plane %i',
    { timeout: 300_000 },
    (plane) => {
      const tokenizer = make({});
      for (const [form, sums] of Object.entries(codePointSums)) {
        expect(sumOfPlane(tokenizer, form, plane), form).toEqual(sums[plane]);
      }
    },
  );

  it('stops reading soon after the limit', () => {
    const tokenizer = make({});
    const text = 'some words, and more of them. '.repeat(100_000);
    const whole = tokenizer.encode(text.slice(0, 30_000));
    for (const limit of [0, 1, 254, 3000]) {
      const ids = tokenizer.encode(text, limit);
      expect(ids.length).toBeGreaterThan(limit);
      expect(ids.length).toBeLessThan(limit + 3000);
      expect(ids.slice(0, limit)).toEqual(whole.slice(0, limit));
    }
  });

  it('reads to the end under a limit that is not passed', () => {
    const tokenizer = make({});
    for (const text of ['', 'x', 'a b c', 'x'.repeat(100_000), `${'\u0301'.repeat(50_000)}a`, ' '.repeat(60_000)]) {
      const ids = tokenizer.encode(text);
      expect(tokenizer.encode(text, ids.length)).toEqual(ids);
      expect(tokenizer.encode(text, ids.length + 1)).toEqual(ids);
    }
  });

  it('reads several texts at once', () => {
    const tokenizer = make({});
    const texts = ['one text', '', 'unbelievably', 'x '.repeat(6000), '中文'];
    const { ids, ends } = tokenizer.encodeAll(texts);
    const rows = [...ends].map((end, place) => ids.slice(ends[place - 1] ?? 0, end));
    expect(rows).toEqual(texts.map((text) => tokenizer.encode(text)));
    const limited = tokenizer.encodeAll(texts, 3);
    expect(limited.ends.length).toBe(texts.length);
    expect([...limited.ids.slice(0, 2)]).toEqual([...tokenizer.encode('one text')]);
  });

  it('sorts a hundred thousand marks of several classes, some of which stay', () => {
    const tokenizer = make({});
    const marks = '\u0301\u302e\u0316\u{1d165}\u0345'.repeat(20_000);
    expect(tokenizer.encode(`a${marks} b`)).toHaveLength(2);
  });
});

describe.skipIf(addon === undefined)('the native tokenizer', () => {
  it.each(groups)('says where the tokens stand, $name', ({ changes, cases }) => {
    const tokenizer = makeNative(changes);
    for (const { text, spans } of cases) {
      if (spans === undefined) continue;
      const found = tokenizer.encodeWithSpans(text).flatMap(({ id, start, end }) => [id, start, end]);
      expect(found, JSON.stringify(text)).toEqual(spans);
    }
  });

  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 }).map((units) => String.fromCharCode(...units)),
    fc
      .array(fc.constantFrom(' ', 'un', 'believ', 'ably', 'É', '\u0301', '\u302e', '각', '中', '😀', '[SEP]', '\0'))
      .map((parts) => parts.join('')),
  );

  it.each(groups)('gives the ids of the JavaScript one for any text, $name', { timeout: 300_000 }, ({ changes }) => {
    const [native, script] = [makeNative(changes), makeScript(changes)];
    fc.assert(
      fc.property(texts, (text) => {
        expect(native.encode(text)).toEqual(script.encode(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('describes the vocabulary as the JavaScript one does', () => {
    const [native, script] = [makeNative({}), makeScript({})];
    expect([native.special, native.vocabularySize]).toEqual([script.special, script.vocabularySize]);
    expect([native.frames, native.idOf('[MASK]')]).toEqual([script.frames, 103]);
    for (let id = 0; id < script.vocabularySize; id++)
      expect(native.isContinuation(id)).toBe(script.isContinuation(id));
  });

  it('reads UTF-8 as it reads the string', () => {
    const handle = addVocabulary(requireAddon(), 'utf8', shipped);
    const target = new Int32Array(4096);
    for (const { text } of groups[0]?.cases ?? []) {
      const fromString = target.slice(0, requireAddon().encode(handle, text, 4096, target));
      const fromBytes = target.slice(0, requireAddon().encode(handle, Buffer.from(text), 4096, target));
      expect(fromBytes).toEqual(fromString);
    }
  });

  it('refuses arguments of other kinds', () => {
    const handle = addVocabulary(requireAddon(), 'arguments', shipped);
    const target = new Int32Array(8);
    const encode = requireAddon().encode as (...values: unknown[]) => unknown;
    expect(() => encode({}, 'x', 1, target)).toThrow(TypeError);
    expect(() => encode(handle, 5, 1, target)).toThrow('a string is due');
    expect(() => encode(handle, 'x', -1, target)).toThrow('a limit');
    expect(() => encode(handle, 'x', Number.NaN, target)).toThrow('a limit');
    expect(() => encode(handle, 'x', 1, new Float64Array(8))).toThrow('an Int32Array is due');
    expect(() => encode()).toThrow(TypeError);
    expect(() => requireAddon().take(new Int32Array(77))).toThrow(TypeError);
  });

  it('is one vocabulary for all threads', async () => {
    const handle = addVocabulary(requireAddon(), 'threads', shipped);
    expect(handle).toBeDefined();
    const worker = new Worker(new URL('../../native/find-vocabulary.ts', import.meta.url), { workerData: 'threads' });
    const found = new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    expect(await found).toEqual([...makeNative({}).encode('found in a thread')]);
    expect(requireAddon().find('nobody has this')).toBeUndefined();
  });

  it('keeps no memory of what it has read', { timeout: 300_000 }, () => {
    const tokenizer = makeNative({});
    const text = 'some words of many languages, émigré 中文 한국어 '.repeat(2000);
    const read = (times: number): number => {
      for (let time = 0; time < times; time++) tokenizer.encode(text);
      return process.memoryUsage.rss();
    };
    const before = read(200);
    expect(read(1000) - before).toBeLessThan(64 * 1024 * 1024);
  });
});

describe('the choice of a tokenizer', () => {
  it('takes the native one where there is one', async () => {
    const tokenizer = await openTokenizer(modelFolder);
    expect(tokenizer).toBeInstanceOf(addon === undefined ? BertTokenizer : NativeTokenizer);
    expect(await tellTokenizer()).toMatch(addon === undefined ? /^javascript \(.+\)$/ : /^native$/);
  });

  it('takes the JavaScript one when told to', async () => {
    expect(await openTokenizer(modelFolder, 'javascript')).toBeInstanceOf(BertTokenizer);
    expect(await tellTokenizer('javascript')).toBe('javascript (as configured)');
  });
});

function requireAddon() {
  if (addon === undefined) throw new Error('there is no addon');
  return addon;
}
