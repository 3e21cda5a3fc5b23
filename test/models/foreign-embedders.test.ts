// Embedding models of other people's architectures, as a server has them: against the vectors that sentence-transformers
// gives for the same weights (models/training/fixtures/foreign_embedders.py), and to the bit against themselves.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cut } from '../../src/runtime/families/cut.ts';
import { countFrameIds, fillFrame } from '../../src/runtime/tokenizer/frames.ts';
import { openTokenizer } from '../../src/runtime/tokenizer/open-tokenizer.ts';
import { isWordPiece } from '../../src/runtime/tokenizer/tokenizer.ts';
import { layForeignFolders, readForeignAnswers } from '../fixtures/foreign-folders.ts';
import { ServerProcess } from '../process/server-process.ts';

interface ReferenceRow {
  readonly text: string;
  /** By name. */
  readonly prompt: string | null;
  /** With prompt and specials. */
  readonly ids: readonly number[];
  /** base64 of float32 */
  readonly vector: string;
}

interface Reply {
  readonly data: readonly { readonly embedding: string; readonly truncated?: boolean }[];
  readonly usage: { readonly prompt_tokens: number };
}

const KEY = 'ump_foreign-embedders-key';
const LEAST_COSINE = 0.999999;
const DIMENSIONS = 16;
const WINDOW_TOKENS = 96;
/** A type of input that none of these models has a prompt for: then none is put, be there a default or not. */
const NO_PROMPT = 'clustering';
const LEAVES_PROMPTS_OUT = 'bert-mean';
const PROMPTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'bert-mean': { query: 'query: ', passage: 'passage: ' },
  'modernbert-mean': { query: 'search_query: ', document: 'search_document: ' },
  'qwen3-last': { query: 'Instruct: Find what answers\nQuery:', document: '' },
  'gemma3-graph': { query: 'task: search result | query: ', document: 'title: none | text: ' },
};
const references = readForeignAnswers('embedders.json') as Readonly<Record<string, readonly ReferenceRow[]>>;
const names = Object.keys(references);
const modelsDir = mkdtempSync(join(tmpdir(), 'umpire-foreign-'));

let server: ServerProcess;
let address: string;
beforeAll(async () => {
  layForeignFolders(modelsDir, names);
  server = new ServerProcess({
    UMPIRE_API_KEY: KEY,
    UMPIRE_MODELS_DIR: modelsDir,
    UMPIRE_EMBEDDINGS_TOKEN_ARRAYS: 'model',
    UMPIRE_EMBEDDINGS_LONG_INPUTS: 'windows',
    // Two answers to the same question shall be two runs.
    UMPIRE_ANSWERS_MERGE: 'false',
    UMPIRE_ANSWERS_CACHE_BYTES: '0',
  });
  address = await server.ready();
});
afterAll(async () => {
  await server.dispose();
  rmSync(modelsDir, { recursive: true, force: true });
});

async function send(body: object): Promise<Response> {
  return await fetch(`${address}/ai/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ encoding_format: 'base64', ...body }),
  });
}

// biome-ignore lint/suspicious/noExplicitAny: a reply is whatever the server sent; tests say what they expect
async function bodyOf(response: Response): Promise<any> {
  return await response.json();
}

async function embed(body: object): Promise<Reply> {
  const response = await send(body);
  if (response.status !== 200) throw new Error(await response.text());
  return await bodyOf(response);
}

const rowsOf = (name: string): readonly ReferenceRow[] => references[name] ?? [];
const numbersOf = (base64 = ''): Float32Array =>
  new Float32Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer);
const normOf = (vector: ArrayLike<number>): number => Math.hypot(...Array.from(vector));

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let dot = 0;
  for (let at = 0; at < a.length; at++) dot += (a[at] ?? 0) * (b[at] ?? 0);
  return dot / (normOf(a) * normOf(b));
}

/** What every window of a text begins with, and what of the text follows in each. */
async function windowsOf(
  name: string,
  prompt: string,
  text: string,
): Promise<{ prefix: number[]; slices: number[][] }> {
  const tokenizer = await openTokenizer(join(modelsDir, name));
  const [promptIds, ids] = [[...tokenizer.encode(prompt)], tokenizer.encode(prompt + text)];
  const changed = promptIds.findIndex((id, at) => ids[at] !== id);
  const prefix = changed === -1 ? promptIds : promptIds.slice(0, changed);
  const size = WINDOW_TOKENS - countFrameIds(tokenizer.frames.single) - prefix.length;
  const isContinuation = isWordPiece(tokenizer) ? (id: number) => tokenizer.isContinuation(id) : () => false;
  return { prefix, slices: cut(ids.subarray(prefix.length), size, isContinuation).map((slice) => [...slice]) };
}

describe.each(names)('%s', (name) => {
  it('reads the tokens of the reference, prompt and specials included', async () => {
    const tokenizer = await openTokenizer(join(modelsDir, name));
    for (const { text, prompt, ids } of rowsOf(name)) {
      const put = prompt === null ? '' : (PROMPTS[name]?.[prompt] ?? '');
      expect([...fillFrame(tokenizer.frames.single, tokenizer.encode(put + text)).ids]).toEqual(ids);
    }
  });

  it('gives the vectors of the reference, with every prompt and with none', async () => {
    const specials = fillFrame((await openTokenizer(join(modelsDir, name))).frames.single, new Int32Array()).ids.length;
    const asked = Map.groupBy(rowsOf(name), ({ prompt }) => prompt);
    for (const [prompt, rows] of asked) {
      const choice = prompt === null ? { input_type: NO_PROMPT } : { prompt_name: prompt };
      const { data, usage } = await embed({ model: name, input: rows.map(({ text }) => text), ...choice });
      expect(usage.prompt_tokens).toBe(rows.reduce((sum, { ids }) => sum + ids.length - specials, 0));
      for (const [at, { vector }] of rows.entries()) {
        const given = numbersOf(data[at]?.embedding);
        expect(cosine(given, numbersOf(vector))).toBeGreaterThanOrEqual(LEAST_COSINE);
        expect(normOf(given)).toBeCloseTo(1, 6);
      }
    }
  });

  it('gives the same bits alone, in a list, and under load', async () => {
    const texts = [...rowsOf(name).map(({ text }) => text), 'a', 'one more', 'and another one'].slice(0, 8);
    const alone = [];
    for (const input of texts) alone.push((await embed({ model: name, input })).data[0]?.embedding);
    const crowd = Promise.all(names.map((model) => embed({ model, input: Array(40).fill('somebody else asks') })));
    const lists = await Promise.all(Array.from({ length: 4 }, () => embed({ model: name, input: texts })));
    await crowd;
    for (const { data } of lists) expect(data.map(({ embedding }) => embedding)).toEqual(alone);
  });

  it('writes numbers as base64 has them, and fewer dimensions as a vector of its own', async () => {
    const input = 'The parcel is late.';
    const whole = numbersOf((await embed({ model: name, input })).data[0]?.embedding);
    const written = await bodyOf(await send({ model: name, input, encoding_format: 'float' }));
    expect(Float32Array.from(written.data[0].embedding)).toEqual(whole);
    const head = numbersOf((await embed({ model: name, input, dimensions: 8 })).data[0]?.embedding);
    expect(head).toHaveLength(8);
    expect(cosine(head, whole.subarray(0, 8))).toBeCloseTo(1, 6);
    expect(normOf(head)).toBeCloseTo(1, 6);
  });

  it('reads a long text in windows, each of them with the prompt', async () => {
    const prompt = PROMPTS[name]?.['query'] ?? '';
    const text = 'the server reads the document once and every question about it, '.repeat(12).trim();
    const { prefix, slices } = await windowsOf(name, prompt, text);
    expect(slices.length).toBeGreaterThan(2);
    const windows = slices.map((slice) => [...prefix, ...slice]);
    // Where a prompt is not pooled, it must be known for one.
    const asked =
      name === LEAVES_PROMPTS_OUT ? { input: slices, prompt_name: 'query' } : { input: windows, input_type: NO_PROMPT };
    const { data: parts } = await embed({ model: name, ...asked });
    const sums = Array.from({ length: DIMENSIONS }, (_, at) =>
      slices.reduce((sum, { length }, place) => sum + length * (numbersOf(parts[place]?.embedding)[at] ?? 0), 0),
    );
    const { data, usage } = await embed({ model: name, input: text, input_type: 'query' });
    expect(cosine(numbersOf(data[0]?.embedding), sums)).toBeGreaterThanOrEqual(LEAST_COSINE);
    expect(usage.prompt_tokens).toBe(windows.reduce((sum, { length }) => sum + length, 0));
  });
});

describe('prompts', () => {
  const [input] = rowsOf('modernbert-mean').map(({ text }) => text);
  const vectorOf = async (model: string, choice: object): Promise<string | undefined> =>
    (await embed({ model, input, ...choice })).data[0]?.embedding;
  const failure = async (body: object): Promise<unknown> => {
    const response = await send({ input, ...body });
    return [response.status, (await bodyOf(response)).error];
  };

  it('are meant by their names and by what the texts are for, as clients of several makers say it', async () => {
    const query = await vectorOf('modernbert-mean', { prompt_name: 'query' });
    const document = await vectorOf('modernbert-mean', { prompt_name: 'document' });
    for (const input_type of ['query', 'search_query'])
      expect(await vectorOf('modernbert-mean', { input_type })).toBe(query);
    for (const input_type of ['document', 'search_document', 'passage']) {
      expect(await vectorOf('modernbert-mean', { input_type })).toBe(document);
    }
    const passage = await vectorOf('bert-mean', { prompt_name: 'passage' });
    expect(await vectorOf('bert-mean', { input_type: 'document', prompt_name: null })).toBe(passage);
    expect(new Set([query, document, passage, await vectorOf('modernbert-mean', { input_type: NO_PROMPT })]).size).toBe(
      4,
    );
  });

  it('are the default of the model where a request names none', async () => {
    const named = await vectorOf('modernbert-mean', { prompt_name: 'document' });
    expect(await vectorOf('modernbert-mean', { input_type: null })).toBe(named);
  });

  it('may be asked for of a model that has none', async () => {
    const plain = await vectorOf('gte-cls', {});
    expect(await vectorOf('gte-cls', { input_type: 'query' })).toBe(plain);
  });

  it('stand before token ids as well', async () => {
    const ids = [...(await openTokenizer(join(modelsDir, 'bert-mean'))).encode('the parcel')];
    const [ofText, ofIds] = [
      await embed({ model: 'bert-mean', input: 'the parcel', input_type: 'query' }),
      await embed({ model: 'bert-mean', input: ids, input_type: 'query' }),
    ];
    expect(ofIds).toEqual(ofText);
  });

  it('are refused where the model has none of that name, and told', async () => {
    expect(await failure({ model: 'modernbert-mean', prompt_name: 'passage' })).toMatchObject([
      400,
      {
        code: 'invalid_request',
        param: 'prompt_name',
        message: 'modernbert-mean has no prompt of this name. It has: query, document.',
      },
    ]);
    expect(await failure({ model: 'gte-cls', prompt_name: '__proto__' })).toMatchObject([
      400,
      { param: 'prompt_name', message: 'gte-cls has no prompt of this name. It has none.' },
    ]);
  });

  it('are refused where two are chosen, or something else than a name', async () => {
    const model = 'modernbert-mean';
    const both = { model, prompt_name: 'query', input_type: 'query' };
    expect(await failure(both)).toMatchObject([
      400,
      { param: 'input_type', message: expect.stringContaining('send one of them') },
    ]);
    expect(await failure({ model, prompt_name: 7 })).toMatchObject([400, { param: 'prompt_name' }]);
    expect(await failure({ model, input_type: 'image' })).toMatchObject([400, { param: 'input_type' }]);
  });

  it('count against what the model reads at once, and the refusal says so', async () => {
    const refusal = await failure({ model: 'modernbert-mean', input: 'word '.repeat(9000), input_type: 'query' });
    expect(refusal).toMatchObject([
      400,
      {
        code: 'context_length_exceeded',
        message: expect.stringMatching(/tokens with its prompt; modernbert-mean takes/),
      },
    ]);
  });

  it('are listed on the card of the model', async () => {
    const card = async (id: string) =>
      await bodyOf(await fetch(`${address}/ai/v1/models/${id}`, { headers: { authorization: `Bearer ${KEY}` } }));
    expect((await card('modernbert-mean')).prompts).toEqual(['query', 'document']);
    expect((await card('gte-cls')).prompts).toEqual([]);
  });
});
