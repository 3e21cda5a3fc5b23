// Embedding inputs of more tokens than the model reads at once, through real workers: refused, cut by the caller's choice,
// or read in windows by the operator's; counted before as they are billed.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller, EmbedInput, EmbedJob, EmbedResult } from '../../src/engine/engine.ts';
import type { LocalEngine } from '../../src/engine/local-engine.ts';
import { BertTokenizer } from '../../src/runtime/tokenizer/bert-tokenizer.ts';
import { createTinyEngine } from '../workers/tiny-engine.ts';
import { readShippedTokenizer } from './shipped-tokenizer.ts';

const caller: Caller = { keyId: 'key', signal: new AbortController().signal };
const folder = fileURLToPath(new URL('../../models/text-embed-mini', import.meta.url));
const tokenizer = new BertTokenizer(readShippedTokenizer('text-embed-mini'));
const WINDOW = 254;
const LIMIT = 8192;

const sentence = 'The moon orbits the earth, unbelievably slowly; nobody misunderstands electroencephalographers. ';
const long = sentence.repeat(40);
const idsOf = (text: string) => [...tokenizer.encode(text)];

const engines = new Map<string, LocalEngine>();
const open = async (longInputs: 'refuse' | 'windows', workers: number): Promise<LocalEngine> => {
  const engine = await createTinyEngine({
    modelFolders: [folder],
    longInputs,
    workers,
    queue: { maxJobs: 1000, maxCostMs: 3_600_000, deadlineMs: 3_600_000 },
    probe: { intervalMs: 0, timeoutMs: 600_000 },
  });
  engines.set(`${longInputs} ${workers}`, engine);
  await engine.ready;
  return engine;
};
const engineOf = (name: string): LocalEngine => {
  const engine = engines.get(name);
  if (engine === undefined) throw new Error(`no engine ${name}`);
  return engine;
};
beforeAll(async () => {
  await Promise.all([open('refuse', 1), open('windows', 1), open('windows', 2)]);
});
afterAll(() => Promise.all([...engines.values()].map((engine) => engine.drain())));

const jobOf = (inputs: readonly EmbedInput[], more: Partial<EmbedJob> = {}): EmbedJob => ({
  modelId: 'text-embed-mini',
  inputs,
  dimensions: undefined,
  encoding: 'float',
  ...more,
});
const embed = (engine: string, inputs: readonly EmbedInput[], more?: Partial<EmbedJob>): Promise<EmbedResult> =>
  engineOf(engine).ticketFor(jobOf(inputs, more), caller).run();
const vectorOf = ({ embeddings }: EmbedResult, place = 0): Float32Array => {
  const vector = embeddings[place];
  if (!(vector instanceof Float32Array)) throw new Error('no vector');
  return vector;
};

/** Windows end between words. */
function windowsOf(ids: readonly number[]): number[][] {
  const windows: number[][] = [];
  for (let start = 0; start < ids.length; ) {
    let end = Math.min(start + WINDOW, ids.length);
    while (end < ids.length && tokenizer.isContinuation(ids[end] ?? 0)) end -= 1;
    windows.push(ids.slice(start, end));
    start = end;
  }
  return windows;
}

/** Of windows embedded one by one, weighted by tokens and normalised. */
async function meanOf(windows: readonly (readonly number[])[]): Promise<number[]> {
  const vectors = await Promise.all(windows.map(async (ids) => vectorOf(await embed('refuse 1', [ids]))));
  const sums = Array.from({ length: 384 }, (_, at) =>
    vectors.reduce((sum, vector, place) => sum + (windows[place]?.length ?? 0) * (vector[at] ?? 0), 0),
  );
  const norm = Math.hypot(...sums);
  return sums.map((sum) => sum / norm);
}

describe('a text of more tokens than the model reads at once', () => {
  it('is read in windows by a job that says so, whatever the configuration says', async () => {
    const [asked, configured] = [
      await embed('refuse 1', [long], { readsWindows: true }),
      await embed('windows 1', [long]),
    ];
    expect([vectorOf(asked), asked.inputTokens]).toEqual([vectorOf(configured), configured.inputTokens]);
    await expect(embed('refuse 1', [long])).rejects.toMatchObject({ code: 'context_length_exceeded' });
  });

  it.each(['refuse 1', 'windows 1'])(
    'is cut where the caller asks for it (%s), and the result says of which',
    async (name) => {
      const ids = idsOf(long);
      const cut = await embed(name, ['short', long, ids, 'a '.repeat(254)], { truncate: true });
      expect(cut.truncated).toEqual([1, 2]);
      expect(cut.inputTokens).toBe(1 + 3 * WINDOW);
      const first = vectorOf(await embed(name, [ids.slice(0, WINDOW)]));
      expect(vectorOf(cut, 1)).toEqual(first);
      expect(vectorOf(cut, 2)).toEqual(first);
    },
  );

  it('is cut alike however much more of it there is', async () => {
    const [a, b] = [
      await embed('refuse 1', [long], { truncate: true }),
      await embed('refuse 1', [long.repeat(200)], { truncate: true }),
    ];
    expect(vectorOf(b)).toEqual(vectorOf(a));
  });

  it('is not cut unasked', async () => {
    expect((await embed('refuse 1', ['short'], { truncate: true })).truncated).toEqual([]);
    for (const more of [{}, { truncate: false }]) {
      await expect(embed('refuse 1', [long], more)).rejects.toMatchObject({ code: 'context_length_exceeded' });
    }
  });

  it('is the mean of its windows, weighted by tokens and normalised', async () => {
    const windows = windowsOf(idsOf(long));
    expect(windows.length).toBeGreaterThan(3);
    expect(new Set(windows.slice(0, -1).map(({ length }) => length)).size).toBeGreaterThan(1);
    const read = await embed('windows 1', [long]);
    const vector = vectorOf(read);
    expect(read.inputTokens).toBe(idsOf(long).length);
    expect(read.truncated).toEqual([]);
    const expected = await meanOf(windows);
    for (const [at, value] of vector.entries()) expect(value).toBeCloseTo(expected[at] ?? Number.NaN, 6);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
  });

  it('is the same to the bit as text and as ids, alone and among others, with one worker and with two', async () => {
    const inputs = Array.from({ length: 12 }, (_, place) => `${place} ${long}`.slice(0, 300 * (place + 1)));
    const [alone, ids, among, two] = await Promise.all([
      embed('windows 1', [long]),
      embed('windows 1', [idsOf(long)]),
      embed('windows 1', [...inputs, long]),
      embed('windows 2', [long, ...inputs]),
    ]);
    expect(vectorOf(ids)).toEqual(vectorOf(alone));
    expect(vectorOf(among, 12)).toEqual(vectorOf(alone));
    expect(vectorOf(two)).toEqual(vectorOf(alone));
    for (const place of inputs.keys()) expect(vectorOf(two, place + 1)).toEqual(vectorOf(among, place));
    expect(two.inputTokens).toBe(among.inputTokens);
  });

  it('is read whole where its characters look like fewer tokens, or more', async () => {
    const dense = '!?'.repeat(2000);
    const sparse = 'internationalization '.repeat(200);
    const read = await embed('windows 2', [dense, sparse]);
    expect(read.inputTokens).toBe(idsOf(dense).length + idsOf(sparse).length);
    const expected = [await meanOf(windowsOf(idsOf(dense))), await meanOf(windowsOf(idsOf(sparse)))];
    for (const place of [0, 1]) {
      for (const [at, value] of vectorOf(read, place).entries())
        expect(value).toBeCloseTo(expected[place]?.[at] ?? 9, 6);
    }
  });

  it('leaves what fits into one window as it is', async () => {
    // The last two look like several windows until they are tokenised.
    for (const text of ['hello', ' ', 'a '.repeat(254), 'internationalization '.repeat(100), '\u0301'.repeat(4000)]) {
      const [read, whole] = [await embed('windows 2', [text]), await embed('refuse 1', [text])];
      expect(vectorOf(read)).toEqual(vectorOf(whole));
      expect(read.inputTokens).toBe(whole.inputTokens);
    }
  });

  it('has dimensions and base64 as asked', async () => {
    const whole = vectorOf(await embed('windows 1', [long]));
    const [cut, text] = [
      vectorOf(await embed('windows 1', [long], { dimensions: 16 })),
      (await embed('windows 1', [long], { encoding: 'base64' })).embeddings[0],
    ];
    const norm = Math.hypot(...whole.slice(0, 16));
    for (const [at, value] of cut.entries()) expect(value).toBeCloseTo((whole[at] ?? 0) / norm, 6);
    expect(text).toBe(Buffer.from(whole.buffer).toString('base64'));
  });

  it('has an end', async () => {
    expect((await embed('windows 2', ['a '.repeat(LIMIT)])).inputTokens).toBe(LIMIT);
    await expect(embed('windows 2', ['a', 'a '.repeat(LIMIT + 1)])).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message: 'input[1] has 8193 tokens; text-embed-mini takes at most 8192. "truncate": true has the first 254 read.',
      param: 'input[1]',
    });
  });

  it.each([
    ['refuse 1', true],
    ['windows 1', false],
    ['windows 1', true],
  ])('is counted as it is billed (%s, truncate %s)', async (name, truncate) => {
    for (const inputs of [[long], ['short', long, idsOf(long)], [long.repeat(2), 'a'], ['!?'.repeat(1000)]]) {
      const billed = (await embed(name, inputs, { truncate })).inputTokens;
      expect(await engineOf(name).ticketFor(jobOf(inputs, { truncate }), caller).countTokens()).toBe(billed);
    }
  });
});

describe('a request of many long texts', () => {
  // Of the model with random weights, whose windows hold 62 tokens.
  const most = 2048 * 62;
  const inputsOf = (tokens: number): string[] => {
    const inputs = Array.from({ length: Math.floor(tokens / LIMIT) }, () => 'a '.repeat(LIMIT));
    return tokens % LIMIT === 0 ? inputs : [...inputs, 'a '.repeat(tokens % LIMIT)];
  };
  let engine: LocalEngine;
  beforeAll(async () => {
    engine = await createTinyEngine({
      longInputs: 'windows',
      queue: { maxJobs: 1000, maxCostMs: 3_600_000, deadlineMs: 3_600_000 },
      probe: { intervalMs: 0, timeoutMs: 600_000 },
    });
    await engine.ready;
  });
  afterAll(() => engine.drain());
  const job = (tokens: number, more: Partial<EmbedJob> = {}) =>
    jobOf(inputsOf(tokens), { modelId: 'tiny-embedding', ...more });

  it('is read up to as many windows as there may be inputs', async () => {
    expect((await engine.ticketFor(job(most), caller).run()).inputTokens).toBe(most);
    expect(engine.models.find(({ id }) => id === 'tiny-embedding')?.limits).toMatchObject({ request_tokens: most });
  });

  it('is refused beyond it, before anything is run, and counted alike', async () => {
    const refusal = {
      code: 'context_length_exceeded',
      message: `The inputs have ${most + 1} tokens in all; tiny-embedding takes at most ${most} in a request.`,
      param: 'input',
    };
    await expect(engine.ticketFor(job(most + 1), caller).run()).rejects.toMatchObject(refusal);
    await expect(engine.ticketFor(job(most + 1), caller).countTokens()).rejects.toMatchObject(refusal);
  });

  it('is refused also where it has more tokens than characters', async () => {
    const dense = `${'각'.repeat(30)} `.repeat(90);
    const tokens = idsOf(dense).length;
    expect(tokens).toBeGreaterThan(2 * dense.length);
    const count = Math.ceil((2048 * WINDOW) / tokens);
    await expect(embed('windows 2', Array(count).fill(dense))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message: `The inputs have ${count * tokens} tokens in all; text-embed-mini takes at most ${2048 * WINDOW} in a request.`,
    });
  });

  it('is cut, however large, where the caller asks for it', async () => {
    const { inputTokens, truncated } = await engine.ticketFor(job(2 * most, { truncate: true }), caller).run();
    expect(inputTokens).toBe(62 * truncated.length);
  });
});

describe('the limits of the card', () => {
  it.each([
    ['refuse 1', { input_tokens: WINDOW }],
    ['windows 1', { input_tokens: LIMIT, window_tokens: WINDOW, request_tokens: 2048 * WINDOW }],
  ])('are what a caller may send (%s)', async (name, limits) => {
    expect(engineOf(name).models[0]?.limits).toEqual(limits);
    const most = limits.input_tokens;
    expect((await embed(name, ['a '.repeat(most)])).inputTokens).toBe(most);
    await expect(embed(name, ['a '.repeat(most + 1)])).rejects.toMatchObject({ code: 'context_length_exceeded' });
  });
});
