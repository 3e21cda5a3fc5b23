// The unmodified client of Cohere against `POST /ai/v1/rerank`, in both versions of its API, over a real port.

import { CohereClient, CohereClientV2, CohereError } from 'cohere-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEV_KEY, KEY } from '../application/test-server.ts';
import { type ContractServer, startContractServer } from './contract-server.ts';

const DOCUMENTS = ['x', 'a', 'a b'];
const REQUEST = { model: 'reranker', query: 'a b', documents: DOCUMENTS };

let server: ContractServer;
let clients: Record<'v1' | 'v2', CohereClient | CohereClientV2>;
beforeAll(async () => {
  server = await startContractServer();
  const options = { token: KEY, environment: server.decisionBaseUrl, maxRetries: 0 };
  clients = { v1: new CohereClient(options), v2: new CohereClientV2(options) };
});
afterAll(() => server.app.close());

describe.each(['v1', 'v2'] as const)('rerank of the client, %s,', (version) => {
  it('gives the documents in order', async () => {
    const { results } = await clients[version].rerank(REQUEST);
    expect(results).toEqual([
      { index: 2, relevanceScore: expect.closeTo(0.8807970779778823, 12) },
      { index: 1, relevanceScore: expect.closeTo(0.7310585786300049, 12) },
      { index: 0, relevanceScore: 0.5 },
    ]);
  });

  it('gives as many as are asked for', async () => {
    const { results } = await clients[version].rerank({ ...REQUEST, topN: 1 });
    expect(results.map(({ index }) => index)).toEqual([2]);
  });

  it('says what a server does not do', async () => {
    const asked = clients[version].rerank({ ...REQUEST, maxTokensPerDoc: 512, rankFields: ['title'] });
    const error: unknown = await asked.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CohereError);
    expect(error).toMatchObject({
      statusCode: 400,
      body: { error: { message: expect.stringMatching(/not supported/) } },
    });
  });

  it('says that a key may not use a model', async () => {
    const options = { token: KEV_KEY, environment: server.decisionBaseUrl, maxRetries: 0 };
    const client = version === 'v1' ? new CohereClient(options) : new CohereClientV2(options);
    await expect(client.rerank(REQUEST)).rejects.toMatchObject({ statusCode: 403 });
  });
});

it('repeats the documents of the first version in the form they have there', async () => {
  const { results } = await (clients.v1 as CohereClient).rerank({
    ...REQUEST,
    documents: DOCUMENTS.map((text) => ({ text })),
    returnDocuments: true,
  });
  expect(results[0]).toMatchObject({ index: 2, document: { text: 'a b' } });
});
