// Models of others that score pairs and questions, through HTTP: their numbers are those of Python's libraries on the same
// weights, the same to the bit however they are asked, and what they bill is what was counted.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DecisionCase, RankingCase } from '../../src/runtime/model-folder/golden.ts';
import { layForeignFolders, readForeignAnswers } from '../fixtures/foreign-folders.ts';
import { ServerProcess } from '../process/server-process.ts';

const LARGEST_SHIFT = 1e-5;

type Cases<Case> = Readonly<Record<string, { readonly cases: readonly Case[] }>>;

const answers = readForeignAnswers('scorers.json') as {
  readonly entailment: Cases<DecisionCase>;
  readonly rerankers: Cases<RankingCase>;
  readonly laya: { readonly cases: readonly DecisionCase[] };
};
const DECIDERS: Cases<DecisionCase> = { ...answers.entailment, laya: answers.laya };
const RERANKERS = answers.rerankers;
const NAMES = [...Object.keys(DECIDERS), ...Object.keys(RERANKERS)];

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a reply is whatever the server sent; tests say what they expect
  readonly json: any;
  readonly headers: Headers;
}

let folder: string;
let server: ServerProcess;
let address: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-scorers-'));
  const models = layForeignFolders(folder, NAMES).join(',');
  server = new ServerProcess({ UMPIRE_MODELS: models, UMPIRE_ENGINE_WORKERS: '2' });
  address = await server.ready();
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

async function post(path: string, body: unknown, key = server.initialKey()): Promise<Reply> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const reply = await fetch(`${address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: reply.status, json: await reply.json(), headers: reply.headers };
}

type GoldenQuestion = DecisionCase['questions'][number];

function toWire(question: GoldenQuestion): object {
  const { type, instructions } = question;
  if (question.type === 'choice') return { type, instructions, criteria: Object.fromEntries(question.options) };
  if (question.type === 'score') return { type, instructions, criteria: question.levels };
  const sides = Object.entries({ false: question.false, true: question.true }).filter(([, text]) => text != null);
  return { type, instructions, ...(sides.length > 0 ? { criteria: Object.fromEntries(sides) } : {}) };
}

const decision = (model: string, state: string, questions: readonly GoldenQuestion[]) => ({
  model,
  state,
  questions: Object.fromEntries(questions.map((question, place) => [`q${place}`, toWire(question)])),
});

interface WireAnswer {
  readonly noul?: number;
  readonly probabilities?: Readonly<Record<string, number>>;
}

/** In the order of the request; noul: false, true. */
function probabilitiesIn({ noul, probabilities }: WireAnswer, question: GoldenQuestion): number[] {
  if (noul !== undefined) return [1 - noul, noul];
  const names = question.type === 'choice' ? question.options.map(([name]) => name) : Object.keys(probabilities ?? {});
  return names.map((name) => probabilities?.[name] ?? Number.NaN);
}

const decisions = Object.entries(DECIDERS).flatMap(([model, { cases }]) =>
  cases.map((each, place) => [`${model}, case ${place + 1}`, model, each] as const),
);
/** What the wire refuses, an empty text, is compared in a worker (golden answers). */
const rankings = Object.entries(RERANKERS).flatMap(([model, { cases }]) =>
  cases.flatMap((each, place) => (each.query === '' ? [] : [[`${model}, case ${place + 1}`, model, each] as const])),
);

const largest = (numbers: readonly number[]): number =>
  numbers.reduce((most, each) => Math.max(most, Math.abs(each)), 0);

describe('decisions', () => {
  it.each(decisions)("have the reference's probabilities and tokens: %s", async (_name, model, each) => {
    const { status, json } = await post('/ai/v1/systemone', decision(model, each.state, each.questions));
    expect(status).toBe(200);
    for (const [place, question] of each.questions.entries()) {
      const expected = each.probabilities['fp32']?.[place] ?? [];
      const found = probabilitiesIn(json.answers[`q${place}`], question);
      expect(found).toHaveLength(expected.length);
      expect(largest(found.map((value, at) => value - (expected[at] ?? Number.NaN)))).toBeLessThanOrEqual(
        LARGEST_SHIFT,
      );
    }
    expect(json.usage).toEqual({ input_tokens: each.input_tokens, output_tokens: 0 });
  });

  it.each(decisions)(
    'are the same to the bit one by one and with their options in another order: %s',
    async (_name, model, each) => {
      const { json } = await post('/ai/v1/systemone', decision(model, each.state, each.questions));
      for (const [place, question] of each.questions.entries()) {
        const turned = question.type === 'choice' ? { ...question, options: question.options.toReversed() } : question;
        const alone = await post('/ai/v1/systemone', decision(model, each.state, [turned]));
        expect(alone.json.answers.q0).toEqual(json.answers[`q${place}`]);
      }
    },
  );
});

describe('rankings', () => {
  it.each(rankings)("have the reference's scores, in order: %s", async (_name, model, { query, documents, scores }) => {
    const asked = documents.filter((text) => text !== '');
    const expected = (scores['fp32'] ?? []).filter((_, place) => documents[place] !== '');
    const { status, json } = await post('/ai/v1/rerank', { model, query, documents: asked, return_documents: true });
    expect(status).toBe(200);
    const found: { index: number; relevance_score: number; document: { text: string } }[] = json.results;
    expect(found.map(({ relevance_score }) => relevance_score)).toEqual(
      found.map(({ relevance_score }) => relevance_score).toSorted((a, b) => b - a),
    );
    expect(found.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([...asked.keys()]);
    for (const { index, relevance_score, document } of found) {
      expect(Math.abs(relevance_score - (expected[index] ?? Number.NaN))).toBeLessThanOrEqual(LARGEST_SHIFT);
      expect(document.text).toBe(asked[index]);
    }
  });

  it.each(rankings)(
    'depend on nothing but the query and the document: %s',
    async (_name, model, { query, documents }) => {
      const asked = documents.filter((text) => text !== '');
      // Each twice: ties, of which the first of the request comes first.
      const { json } = await post('/ai/v1/rerank', { model, query, documents: [...asked, ...asked] });
      const found: { index: number; relevance_score: number }[] = json.results;
      expect(found.map(({ index }) => index % asked.length)).toEqual(
        found.map((_, at) => (found[at - (at % 2)]?.index ?? 0) % asked.length),
      );
      for (const { index, relevance_score } of found) {
        const alone = await post('/ai/v1/rerank', { model, query, documents: [asked[index % asked.length]], top_n: 1 });
        expect(alone.json.results).toEqual([{ index: 0, relevance_score }]);
      }
    },
  );

  it.each(Object.keys(RERANKERS))(
    'of documents that are too long are refused, or cut and told of: %s',
    async (model) => {
      const documents = ['The parcel is late.', 'parcel '.repeat(2000)];
      const body = { model, query: 'where is the parcel?', documents };
      const refused = await post('/ai/v1/rerank', body);
      expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([
        400,
        'context_length_exceeded',
        'documents[1]',
      ]);
      const cut = await post('/ai/v1/rerank', { ...body, truncate: true });
      expect(cut.status).toBe(200);
      const told = cut.json.results.filter((result: object) => 'truncated' in result);
      expect(told.map(({ index }: { index: number }) => index)).toEqual([1]);
    },
  );
});

describe('a key with a budget', () => {
  const CALLS = [
    ...decisions.map(
      ([name, model, { state, questions }]) => [name, '/ai/v1/systemone', decision(model, state, questions)] as const,
    ),
    ...rankings.map(([name, model, { query, documents }]) => {
      const asked = documents.filter((text) => text !== '');
      return [name, '/ai/v1/rerank', { model, query, documents: asked, truncate: true }] as const;
    }),
  ];

  beforeAll(async () => {
    for (const model of NAMES) {
      // A millionth of a dollar a token.
      const { status } = await post('/admin/v1/prices', { model, input_usd: '1', output_usd: '0' });
      expect(status).toBe(201);
    }
  });

  async function keyFor(tokens: number): Promise<string> {
    const budget = { amount_usd: (tokens / 1e6).toFixed(6) };
    const { status, json } = await post('/admin/v1/keys', { name: 'limited', budget });
    expect(status).toBe(201);
    return json.key;
  }

  it.each(CALLS)('is let in with room for exactly what is billed, and not with less: %s', async (_name, path, body) => {
    const { json } = await post(path, body);
    const tokens: number = json.usage.input_tokens ?? json.usage.total_tokens;
    const narrow = await post(path, body, await keyFor(tokens - 1));
    expect([narrow.status, narrow.json.error?.code]).toEqual([402, 'insufficient_quota']);
    const exact = await post(path, body, await keyFor(tokens));
    expect([exact.status, exact.headers.get('x-umpire-budget-remaining-usd')]).toEqual([200, '0']);
  });
});

it('answers all kinds at once to the bit as one by one', async () => {
  const calls = [
    ...decisions.map(
      ([, model, { state, questions }]) => ['/ai/v1/systemone', decision(model, state, questions)] as const,
    ),
    ...rankings.map(([, model, { query, documents }]) => {
      return ['/ai/v1/rerank', { model, query, documents: documents.filter((text) => text !== '') }] as const;
    }),
  ];
  const alone: unknown[] = [];
  for (const [path, body] of calls) alone.push((await post(path, body)).json);
  const crowd = [...calls, ...calls.toReversed(), ...calls];
  const together = await Promise.all(crowd.map(([path, body]) => post(path, body)));
  const expected = [...alone, ...alone.toReversed(), ...alone];
  expect(together.map(({ json }) => json)).toEqual(expected);
});

it('are listed as what they are', async () => {
  const headers = { authorization: `Bearer ${server.initialKey()}` };
  const reply = await fetch(`${address}/ai/v1/models`, { headers });
  const { data } = (await reply.json()) as { data: { id: string; type: string; calibrated: boolean | null }[] };
  expect(data.map(({ id, type, calibrated }) => [id, type, calibrated])).toEqual([
    ...Object.keys(DECIDERS).map((id) => [id, 'decision', false]),
    ...Object.keys(RERANKERS).map((id) => [id, 'reranker', null]),
  ]);
});
