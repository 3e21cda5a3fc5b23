// Another name of a model: listed, allowed by keys, answered and billed as the model itself, for clients as they come.

import { noul, TypeSafeClient } from '@typesafe-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpChatUpstream } from '../../src/upstream/http-chat-upstream.ts';
import { completion, replyJson } from '../upstream/upstream-answers.ts';
import { UpstreamDouble } from '../upstream/upstream-double.ts';
import { chatUpstreamOptions } from '../upstream/upstream-fixture.ts';
import { DECISION, DECISION_PICO_USD, DECISION_TOKENS, MeteredServer } from './metered-server.ts';

const ALIASES = { 'jev-latest': 'kev', 'text-embedding-3-small': 'text-embed-mini', 'gpt-4o': 'llama' };
const USAGE = { prompt_tokens: 100, completion_tokens: 7 };

let double: UpstreamDouble;
let upstream: HttpChatUpstream;
let server: MeteredServer;
let address: string;

beforeAll(async () => {
  double = await UpstreamDouble.start(replyJson(completion({ usage: USAGE })));
  upstream = new HttpChatUpstream(chatUpstreamOptions(double.baseUrl));
  server = await MeteredServer.start({}, { aliases: ALIASES, upstreams: [upstream] });
  address = await server.listen();
});

afterAll(async () => {
  await server.close();
  await upstream.close();
  await double.close();
});

describe('an alias', () => {
  it('is listed as a model that says what it stands for', async () => {
    const { json } = await server.get('/ai/v1/models', await server.createCaller({ models: ['kev', 'gpt-4o'] }));
    const listed = json.data.map(({ id, alias_of, type }: Record<string, unknown>) => [id, alias_of, type]);
    expect(listed).toEqual([
      ['kev', null, 'decision'],
      ['jev-latest', 'kev', 'decision'],
      ['gpt-4o', 'llama', 'llm'],
    ]);
    expect(json.models.map(({ name }: { name: string }) => name)).toEqual(['kev', 'jev-latest', 'gpt-4o']);
    const one = await server.get('/ai/v1/models/jev-latest', await server.createCaller({ models: ['jev-*'] }));
    expect(one.json).toMatchObject({ id: 'jev-latest', alias_of: 'kev', price: { input: 0.0378 } });
  });

  it('is what the decision SDK asks for by default, billed as its model', async () => {
    const caller = await server.createCaller();
    const client = new TypeSafeClient({ baseURL: `${address}/ai`, apiKey: caller.secret, defaultModel: 'jev-latest' });
    const { model, usage } = await client.systemOne({ state: DECISION.state, questions: { q: noul('is it') } });
    expect([model, usage.input_tokens]).toEqual(['kev', DECISION_TOKENS]);
    expect(await server.rows(caller)).toMatchObject([
      { modelId: 'kev', endpoint: '/ai/v1/systemone', costPicoUsd: DECISION_PICO_USD },
    ]);
  });

  it("of an upstream model is asked for under the upstream's own name, and answered under ours", async () => {
    const caller = await server.createCaller({ models: ['gpt-4o'] });
    const client = new OpenAI({ baseURL: `${address}/ai/v1`, apiKey: caller.secret, maxRetries: 0 });
    const reply = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect([reply.model, double.requests.at(-1)?.json.model]).toEqual(['llama', 'vendor/llama-7b']);
    expect(await server.rows(caller)).toMatchObject([{ modelId: 'llama', costPicoUsd: 114_000_000n }]);
  });

  it('opens its own name alone to a key that names nothing else', async () => {
    const caller = await server.createCaller({ models: ['jev-latest'] });
    const ask = async (model: string) => (await server.decide(caller, {}, { ...DECISION, model })).status;
    expect([await ask('jev-latest'), await ask('kev'), await ask('nobody')]).toEqual([200, 403, 404]);
    const embedding = { model: 'text-embedding-3-small', input: 'a text' };
    expect((await server.post('/ai/v1/embeddings', embedding, caller)).status).toBe(403);
    expect((await server.post('/ai/v1/embeddings', embedding, await server.createCaller())).json.model).toBe(
      'text-embed-mini',
    );
  });

  it('works on the endpoint of its model', async () => {
    const reply = await server.decide(await server.createCaller(), {}, { ...DECISION, model: 'gpt-4o' });
    expect([reply.status, reply.json.error.code]).toEqual([400, 'model_type_mismatch']);
  });
});
