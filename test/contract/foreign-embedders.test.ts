// Embedding models of others as the unmodified clients of LangChain and OpenAI see them, over a real port.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenAIEmbeddings } from '@langchain/openai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layForeignFolders } from '../fixtures/foreign-folders.ts';
import { ServerProcess } from '../process/server-process.ts';
import { installedVersion } from './contract-server.ts';

const KEY = 'ump_foreign-clients-key';
const MODEL = 'modernbert-mean';
const TEXTS = ['The parcel is late.', 'A bill is open.\nIt is the second.', 'x'];
const modelsDir = mkdtempSync(join(tmpdir(), 'umpire-foreign-clients-'));

let server: ServerProcess;
let openai: OpenAI;
let langchain: OpenAIEmbeddings;
beforeAll(async () => {
  layForeignFolders(modelsDir, [MODEL]);
  server = new ServerProcess({ UMPIRE_API_KEY: KEY, UMPIRE_MODELS_DIR: modelsDir });
  const baseURL = `${await server.ready()}/ai/v1`;
  openai = new OpenAI({ baseURL, apiKey: KEY, maxRetries: 0 });
  langchain = new OpenAIEmbeddings({
    model: MODEL,
    apiKey: KEY,
    batchSize: 2,
    maxRetries: 0,
    configuration: { baseURL },
  });
});
afterAll(async () => {
  await server.dispose();
  rmSync(modelsDir, { recursive: true, force: true });
});

/** @param more fields that are not of the client's own format: it sends them as they are */
async function embed(input: string | string[], more: object = {}): Promise<number[][]> {
  const { data } = await openai.embeddings.create({ model: MODEL, input, encoding_format: 'float', ...more });
  return data.map(({ embedding }) => embedding);
}

it('the LangChain packages are tested in the versions that are pinned', () => {
  expect([installedVersion('@langchain/openai'), installedVersion('@langchain/core')]).toEqual(['1.6.0', '1.4.0']);
});

describe('the openai client', () => {
  it('reads the same numbers in either encoding', async () => {
    const { data } = await openai.embeddings.create({ model: MODEL, input: TEXTS });
    expect(data.map(({ embedding }) => embedding)).toEqual(await embed(TEXTS));
  });

  it('sends a prompt with a field of its own', async () => {
    const [asQuery, asDocument] = [await embed(TEXTS, { prompt_name: 'query' }), await embed(TEXTS)];
    expect(asQuery).not.toEqual(asDocument);
    expect(await embed(TEXTS, { input_type: 'search_query' })).toEqual(asQuery);
    await expect(embed(TEXTS, { prompt_name: 'nope' })).rejects.toThrow('It has: query, document.');
  });
});

describe('OpenAIEmbeddings of LangChain', () => {
  it('embeds documents in batches, in their order', async () => {
    // It puts blanks in the place of line ends before it sends a text.
    expect(await langchain.embedDocuments(TEXTS)).toEqual(await embed(TEXTS.map((text) => text.replaceAll('\n', ' '))));
  });

  it('embeds a query', async () => {
    expect(await langchain.embedQuery('Where is my parcel?')).toEqual((await embed('Where is my parcel?'))[0]);
  });

  it('asks for fewer dimensions', async () => {
    const { baseURL } = openai;
    const short = new OpenAIEmbeddings({ model: MODEL, apiKey: KEY, dimensions: 4, configuration: { baseURL } });
    expect(await short.embedQuery('x')).toEqual((await embed('x', { dimensions: 4 }))[0]);
  });
});
