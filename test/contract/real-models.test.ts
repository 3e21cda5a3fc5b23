// The server as users run it, with its real models, seen by the unmodified official clients.

import { BadRequestError, choice, noul, score, TypeSafeClient } from '@typesafe-ai/sdk';
import { experimental_evaluate as evaluate } from 'ai';
import fc from 'fast-check';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arbitraryDecision, arbitraryEmbedding, writeRequest } from '../application/arbitrary-requests.ts';
import { expectDecision } from '../application/expect-decision.ts';
import { expectRefusal } from '../application/expect-refusal.ts';
import { ServerProcess } from '../process/server-process.ts';
import { openEvaluationModel } from './evaluation-model.ts';

const KEY = 'ump_contract-test-key';

let server: ServerProcess;
let address: string;
let typesafe: TypeSafeClient;
let openai: OpenAI;
beforeAll(async () => {
  server = new ServerProcess({ UMPIRE_API_KEY: KEY, UMPIRE_EMBEDDINGS_TOKEN_ARRAYS: 'model' });
  address = await server.ready();
  typesafe = new TypeSafeClient({ baseURL: `${address}/ai`, apiKey: KEY, defaultModel: 'kev', timeout: 60_000 });
  openai = new OpenAI({ baseURL: `${address}/ai/v1`, apiKey: KEY });
});
afterAll(() => server.dispose());

const STATE = 'I was charged twice for my last order and I want my money back. This is the third time I write to you.';
const team = choice('Which team should handle this?', {
  billing: 'payments, invoices, refunds',
  technical: 'bugs, outages, errors in the product',
  sales: null,
});
const anger = score('How upset is the customer?', ['calm', 'annoyed', 'furious']);
const refund = noul('Does the customer ask for a refund?', { true: 'a refund is asked for' });

async function post(path: string, body: string): Promise<{ status: number; text: string; headers: Headers }> {
  const reply = await fetch(`${address}/ai/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body,
  });
  return { status: reply.status, text: await reply.text(), headers: reply.headers };
}

describe('decisions', () => {
  it('are sensible', async () => {
    const { answers, usage } = await typesafe.systemOne({ state: STATE, questions: { team, anger, refund } });
    expect(answers.team.choice).toBe('billing');
    expect(answers.anger.score).toBeGreaterThanOrEqual(0);
    expect(answers.anger.score).toBeLessThanOrEqual(2);
    expect(answers.refund.noul).toBeGreaterThan(0);
    expect(answers.refund.noul).toBeLessThan(1);
    expect(usage.input_tokens).toBeGreaterThan(50);
    expect(usage.output_tokens).toBe(0);
  });

  it('pass the checks of the AI SDK', async () => {
    const { answers } = await evaluate({
      model: openEvaluationModel({ apiKey: KEY, baseURL: `${address}/ai/v1` }),
      state: STATE,
      questions: {
        team: { type: 'choice', instructions: 'Which team?', criteria: { ...team.criteria } },
        anger: { type: 'score', instructions: 'How upset is the customer?', criteria: [...anger.criteria] },
        refund: { type: 'boolean', instructions: 'Does the customer ask for a refund?' },
        many: {
          type: 'choice',
          instructions: 'Which number is meant?',
          criteria: Object.fromEntries(Array.from({ length: 255 }, (_, index) => [`number ${index}`, null])),
        },
      },
    });
    expect(answers.team.choice).toBe('billing');
  });

  it('are the same to the bit alone, beside others, in another order and under load', async () => {
    const { criteria } = team;
    const turned = { ...team, criteria: Object.fromEntries(Object.entries(criteria).reverse()) };
    const others = Object.fromEntries(
      Array.from({ length: 63 }, (_, index) => [`other ${index}`, noul(`Is it ${index}?`)]),
    );
    const calls = [
      { team },
      { refund, team, anger },
      { team: turned },
      { ...others, team },
      ...Array.from({ length: 8 }, () => ({ team })),
    ];
    const replies = await Promise.all(calls.map((questions) => typesafe.systemOne({ state: STATE, questions })));
    const answers = replies.map((reply) => reply.answers.team);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  it('are the same to the bit for a text and for the list of its parts', async () => {
    const ask = async (state: unknown) => {
      const { text } = await post(
        '/systemone',
        JSON.stringify({ model: 'kev', state, questions: { team, anger, refund } }),
      );
      return text;
    };
    const [whole, part, parts] = await Promise.all([
      ask(`${STATE}\nPlease help.`),
      ask([{ type: 'text', text: `${STATE}\nPlease help.` }]),
      ask([STATE, 'Please help.'].map((text) => ({ type: 'text', text }))),
    ]);
    expect(JSON.parse(whole).usage.input_tokens).toBeGreaterThan(50);
    expect(part).toBe(whole);
    expect(parts).toBe(whole);
  });

  it('keep every rule of the protocol, whatever the text and the names', async () => {
    const texts = [
      '',
      ' ',
      '\u0000',
      'lone \ud800 surrogate',
      '🙂👩‍👩‍👧‍👦',
      'שלום עולם \u202e',
      '[SEP] [MASK] [CLS] [PAD] ##ing',
      'x'.repeat(100_000),
    ];
    for (const text of texts) {
      const instructions = JSON.stringify(text === '' ? ' ' : text);
      const options = ['__proto__', '10', '2', '', text.slice(0, 100)].map((name) => JSON.stringify(name));
      const criteria = [...new Set(options)].map((name) => `${name}:null`).join(',');
      const questions = [
        `"__proto__":{"type":"choice","instructions":${instructions},"criteria":{${criteria}}}`,
        `"10":{"type":"score","instructions":${instructions},"criteria":[${instructions},""]}`,
        `"2":{"type":"noul","instructions":${instructions}}`,
      ];
      const body = `{"model":"kev","state":${JSON.stringify(text)},"questions":{${questions.join(',')}}}`;
      const reply = await post('/systemone', body);
      expect(reply.status).toBe(200);
      expectDecision(body, reply.text);
    }
  });

  it('are valid or refused, whatever is asked', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryDecision, async (request) => {
        const body = writeRequest(request);
        const { status, text } = await post('/systemone', body);
        if (status === 200) expectDecision(body, text);
        else expectRefusal(status, text);
      }),
      { numRuns: 200 },
    );
  });

  it('refuse more tokens than the model takes, and say how many', async () => {
    const long = typesafe.systemOne({ state: 'word '.repeat(8193), questions: { refund } });
    await expect(long).rejects.toMatchObject({
      status: 400,
      body: { error: { code: 'context_length_exceeded', message: expect.stringMatching(/8,?193.*8,?192/) } },
    });
    const many = Object.fromEntries(
      Array.from({ length: 33 }, (_, index) => [`q${index}`, noul('word '.repeat(1000))]),
    );
    await expect(typesafe.systemOne({ state: '', questions: many })).rejects.toBeInstanceOf(BadRequestError);
  });

  it('take as many tokens as the limit says', async () => {
    const { usage } = await typesafe.systemOne({ state: 'word '.repeat(8192), questions: { refund } });
    expect(usage.input_tokens).toBeGreaterThan(8192);
  });

  it('carry the digest that the list of models shows', async () => {
    const { headers } = await post('/systemone', JSON.stringify({ model: 'kev', state: STATE, questions: { refund } }));
    const kev = (await openai.models.list()).data.find(({ id }) => id === 'kev');
    expect(headers.get('x-umpire-model-digest')).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(kev).toMatchObject({ type: 'decision', digest: headers.get('x-umpire-model-digest') });
    expect(headers.get('server-timing')).toMatch(/^queue;dur=[\d.]+, tokenize;dur=[\d.]+, infer;dur=[\d.]+$/);
  });
});

describe('embeddings', () => {
  const model = 'text-embed-mini';
  const cosine = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);

  it('put alike texts close together', async () => {
    const input = ['How do I get a refund?', 'I would like my money back.', 'The moon orbits the earth.'];
    const { data, usage } = await openai.embeddings.create({ model, input });
    const [a, b, c] = data.map(({ embedding }) => [...embedding]) as [number[], number[], number[]];
    expect(a).toHaveLength(384);
    expect(cosine(a, a)).toBeCloseTo(1, 4);
    expect(cosine(a, b)).toBeGreaterThan(cosine(a, c) + 0.2);
    expect(usage.prompt_tokens).toBe(usage.total_tokens);
  });

  it('are the same in both encodings, for text and its tokens, alone and among others', async () => {
    const [hello, among] = await Promise.all([
      openai.embeddings.create({ model, input: 'hello', encoding_format: 'float' }),
      openai.embeddings.create({ model, input: [...Array.from({ length: 255 }, (_, i) => `text ${i}`), 'hello'] }),
    ]);
    // "hello" in the vocabulary of this model.
    const tokens = await openai.embeddings.create({ model, input: [7592] });
    const vectors = [hello.data[0], among.data[255], tokens.data[0]].map((item) => [...(item?.embedding ?? [])]);
    expect(vectors[0]).toHaveLength(384);
    expect(vectors[1]).toEqual(vectors[0]);
    expect(vectors[2]).toEqual(vectors[0]);
  });

  it('are given or refused, whatever is asked', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEmbedding, async (request) => {
        const { status, text } = await post('/embeddings', writeRequest(request));
        if (status !== 200) expectRefusal(status, text);
      }),
      { numRuns: 200 },
    );
  });

  it('take as many tokens as the list of models says, and say of what was cut', async () => {
    const listed = (await openai.models.list()).data.find(({ id }) => id === model) as unknown;
    const { limits } = listed as { limits: { input_tokens: number } };
    const most = 'a '.repeat(limits.input_tokens);
    expect((await openai.embeddings.create({ model, input: most })).usage.prompt_tokens).toBe(limits.input_tokens);
    const more = { model, input: ['a', `${most}a`] };
    await expect(openai.embeddings.create(more)).rejects.toThrow(
      `input[1] has ${limits.input_tokens + 1} tokens; ${model} takes at most ${limits.input_tokens}. "truncate": true`,
    );
    const truncate = { truncate: true };
    const cut = await openai.embeddings.create({ ...more, ...truncate });
    expect(cut.data.map((item) => 'truncated' in item)).toEqual([false, true]);
    expect(cut.usage.prompt_tokens).toBe(limits.input_tokens + 1);
  });

  it('are cut and normalised again when fewer dimensions are asked for', async () => {
    const { data } = await openai.embeddings.create({ model, input: 'hello', dimensions: 16 });
    const vector = [...(data[0]?.embedding ?? [])];
    expect(vector).toHaveLength(16);
    expect(cosine(vector, vector)).toBeCloseTo(1, 5);
  });

  it.each([
    ['an input that is too long', { input: ['short', 'word '.repeat(300)] }, 'context_length_exceeded', 'input[1]'],
    ['a token that is none', { input: [[7592], [30_522]] }, 'invalid_request', 'input[1]'],
    ['more dimensions than there are', { input: 'a', dimensions: 385 }, 'invalid_request', 'dimensions'],
  ])('refuse %s', async (_what, change, code, param) => {
    const error = await openai.embeddings.create({ model, ...change }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 400, code, param });
  });
});
