// The addresses that users give official clients: ours, the short one, either with a slash at its end, and wrong ones.

import { NotFoundError, noul, TypeSafeClient } from '@typesafe-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY } from '../application/test-server.ts';
import { type ContractServer, startContractServer } from './contract-server.ts';

let server: ContractServer;
let root: string;
beforeAll(async () => {
  server = await startContractServer();
  root = server.decisionBaseUrl.replace(/\/ai$/, '');
});
afterAll(() => server.app.close());

const openai = (base: string) => new OpenAI({ baseURL: `${root}${base}`, apiKey: KEY, maxRetries: 0 });
const typesafe = (base: string) =>
  new TypeSafeClient({ baseURL: `${root}${base}`, apiKey: KEY, logLevel: 'off', retry: { maxRetries: 0 } });
const ask = { model: 'kev', state: 'I was charged twice.', questions: { refund: noul('Is a refund asked for?') } };

describe('the openai package', () => {
  it.each(['/ai/v1', '/ai/v1/', '/v1', '/v1/'])('works with the base %s', async (base) => {
    const { data } = await openai(base).embeddings.create({ model: 'text-embed-mini', input: 'a' });
    expect(data).toHaveLength(1);
    expect((await openai(base).models.list()).data.map(({ id }) => id)).toContain('kev');
  });

  it.each(['', '/ai', '/ai/v1/v1'])('is told the address with the base "%s"', async (base) => {
    const asked = openai(base).embeddings.create({ model: 'text-embed-mini', input: 'a' });
    await expect(asked).rejects.toThrow(/Did you mean POST \/ai\/v1\/embeddings\? A base address ends in \/ai\/v1/);
  });
});

describe('the decision package', () => {
  it.each(['/ai', '/ai/', '', '/'])('works with the base "%s"', async (base) => {
    expect((await typesafe(base).systemOne(ask)).answers.refund.noul).toBeCloseTo(1 / 3, 12);
  });

  it.each(['/ai/v1', '/v1'])('is told the address with the base %s', async (base) => {
    const error = await typesafe(base)
      .systemOne(ask)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotFoundError);
    expect((error as NotFoundError).message).toMatch(/Did you mean POST \/ai\/v1\/systemone\?/);
  });
});
