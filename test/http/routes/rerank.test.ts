// POST /ai/v1/rerank: what is answered and what is refused.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rerankReplySchema } from '../../../src/http/schemas/rerank-reply.ts';
import { scoredTextsSchema } from '../../../src/http/schemas/texts-request.ts';
import { RERANKER } from '../../application/fake-engine.ts';
import { KEV_KEY, startTestServer, type TestServer } from '../../application/test-server.ts';

const PATH = '/ai/v1/rerank';
const of = (documents: unknown, more: object = {}) => ({ model: 'reranker', query: 'a b', documents, ...more });
/** 1 ÷ (1 + e⁻ˢ) of 0, 1 and 2: as many words of the query as a document has. */
const [NONE, ONE, BOTH] = [0.5, 0.7310585786300049, 0.8807970779778823];
const DOCUMENTS = ['x', 'a', 'a b', 'b c'];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.app.close());

const indices = (results: readonly { index: number }[]) => results.map(({ index }) => index);

describe('a ranking', () => {
  it('has the most relevant document first, and of equals the first of the request', async () => {
    const reply = await server.post(PATH, of(DOCUMENTS));
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      object: 'list',
      model: 'reranker',
      results: [
        { index: 2, relevance_score: BOTH },
        { index: 1, relevance_score: ONE },
        { index: 3, relevance_score: ONE },
        { index: 0, relevance_score: NONE },
      ],
      usage: { prompt_tokens: 14, total_tokens: 14 },
    });
    expect(rerankReplySchema.safeParse(reply.json).error).toBeUndefined();
    expect(reply.headers['x-umpire-model-digest']).toBe(RERANKER.digest);
    expect(reply.headers['server-timing']).toMatch(/^queue;dur=/);
  });

  it('has the scores of each document alone', async () => {
    const { json } = await server.post(PATH, of(DOCUMENTS));
    for (const { index, relevance_score } of json.results) {
      const alone = await server.post(PATH, of([DOCUMENTS[index]]));
      expect(alone.json.results).toEqual([{ index: 0, relevance_score }]);
    }
  });

  it.each([
    [1, [2]],
    [3, [2, 1, 3]],
    [4, [2, 1, 3, 0]],
    [1000, [2, 1, 3, 0]],
    [null, [2, 1, 3, 0]],
  ])('has at most top_n documents, %s, and bills all of them', async (top_n, expected) => {
    const { json } = await server.post(PATH, of(DOCUMENTS, { top_n }));
    expect(indices(json.results)).toEqual(expected);
    expect(json.usage.total_tokens).toBe(14);
  });

  it('repeats the texts where that is asked for, whichever form they came in', async () => {
    const { json } = await server.post(PATH, of(['x', { text: 'a b', id: 7 }], { return_documents: true }));
    expect(json.results).toEqual([
      { index: 1, relevance_score: BOTH, document: { text: 'a b' } },
      { index: 0, relevance_score: NONE, document: { text: 'x' } },
    ]);
  });

  it.each([false, null, undefined])('repeats no text with return_documents %s', async (return_documents) => {
    const { json } = await server.post(PATH, of(['a'], { return_documents }));
    expect(Object.keys(json.results[0])).toEqual(['index', 'relevance_score']);
  });

  it.each([
    ['no', undefined, false],
    ['null', null, false],
    ['false', false, false],
    ['true', true, true],
  ])('is made after handing on %s as the wish to have long documents cut', async (_what, truncate, expected) => {
    const { engine } = server;
    const { rerank } = engine;
    const asked: unknown[] = [];
    engine.rerank = async (job, caller) => {
      asked.push(job.truncate);
      return { ...(await rerank(job, caller)), truncated: job.truncate ? [1] : [] };
    };
    const { status, json } = await server.post(PATH, of(['a b', 'a', 'x'], { truncate }));
    engine.rerank = rerank;
    expect([status, asked]).toEqual([200, [expected]]);
    expect(json.results.map((item: object) => 'truncated' in item)).toEqual([false, expected, false]);
    expect(rerankReplySchema.safeParse(json).error).toBeUndefined();
  });

  it.each([
    ['1,000 documents', Array(1000).fill('a'), {}],
    ['a space', [' '], {}],
    ['any number of chunks, for one is read', ['a'], { max_chunks_per_doc: 10 }],
    ['null options', ['a'], { top_n: null, max_tokens_per_doc: null, rank_fields: null, max_chunks_per_doc: null }],
    ['unknown fields', ['a'], { priority: 0, user: 'someone' }],
  ])('is made of %s', async (_what, documents, more) => {
    const { status, json } = await server.post(PATH, of(documents, more));
    expect(status).toBe(200);
    expect(json.results).toHaveLength(documents.length);
  });

  it.each(['/v1/rerank', '/ai/v2/rerank', '/v2/rerank', '/ai//v2/rerank/'])('is given at %s', async (path) => {
    const { status, json } = await server.post(path, of(['a']));
    expect([status, json.model]).toEqual([200, 'reranker']);
    expect(server.log.at(-1)).toMatchObject({ route: PATH });
  });
});

describe('texts instead of documents', () => {
  const texts = (list: unknown, more: object = {}) => ({ query: 'a b', texts: list, ...more });

  it('are answered with a bare list, by the only reranker that the key may use', async () => {
    const { status, json, headers } = await server.post(PATH, texts(DOCUMENTS));
    expect([status, headers['x-umpire-model-digest']]).toEqual([200, RERANKER.digest]);
    expect(json).toEqual([
      { index: 2, score: BOTH },
      { index: 1, score: ONE },
      { index: 3, score: ONE },
      { index: 0, score: NONE },
    ]);
    expect(scoredTextsSchema.safeParse(json).error).toBeUndefined();
  });

  it('are repeated, cut short to the best and scored by the model’s own numbers where that is asked for', async () => {
    const asked = { model: 'reranker', return_text: true, raw_scores: true, top_n: 2, truncation_direction: 'Right' };
    const { json } = await server.post(PATH, texts([{ text: 'a b' }, 'x', 'a'], asked));
    expect(json).toEqual([
      { index: 0, score: 2, text: 'a b' },
      { index: 2, score: 1, text: 'a' },
    ]);
  });

  it('say which of them were cut', async () => {
    const { engine } = server;
    const { rerank } = engine;
    engine.rerank = async (job, caller) => ({ ...(await rerank(job, caller)), truncated: job.truncate ? [1] : [] });
    const { json } = await server.post(PATH, texts(['a b', 'a'], { truncate: true }));
    engine.rerank = rerank;
    expect(json).toEqual([
      { index: 0, score: BOTH },
      { index: 1, score: ONE, truncated: true },
    ]);
  });

  it('are passed over beside documents', async () => {
    const { json } = await server.post(PATH, of(['a'], { texts: 1 }));
    expect(json.results).toEqual([{ index: 0, relevance_score: ONE }]);
  });

  it.each([
    ['no array', texts('a'), 'texts', /^The field 'texts' must be an array of strings/],
    ['empty', texts([]), 'texts', /^The field 'texts' must not be empty/],
    ['an empty text', texts(['a', '']), 'texts[1]', /must not be empty/],
    ['no query', { texts: ['a'] }, 'query', /must be a string/],
    ['a model that is no text', texts(['a'], { model: 1 }), 'model', /must be a string/],
    ['return_text that is not yes or no', texts(['a'], { return_text: 1 }), 'return_text', /must be true or false/],
    ['raw_scores that is not yes or no', texts(['a'], { raw_scores: 'no' }), 'raw_scores', /must be true or false/],
    ['cutting at the front', texts(['a'], { truncation_direction: 'Left' }), 'truncation_direction', /must be Right/],
  ])('are refused: %s', async (_what, body, param, message) => {
    const { status, json } = await server.post(PATH, body);
    expect([status, json.error.param, json.error.message]).toEqual([400, param, expect.stringMatching(message)]);
  });

  it('need a model where the key may use no reranker', async () => {
    const { status, json } = await server.post(PATH, texts(['a']), { authorization: `Bearer ${KEV_KEY}` });
    expect([status, json.error]).toMatchObject([
      400,
      { param: 'model', message: 'The field \'model\' is needed: this key may use no model of type "reranker".' },
    ]);
  });
});

describe('refusals', () => {
  const SHAPE = /^The field 'documents' must be an array of strings, or of objects such as \{"text": "a document"\}\.$/;
  it.each([
    ['no model', { query: 'a', documents: ['a'] }, 'model', /must be a string/],
    ['no query', { model: 'reranker', documents: ['a'] }, 'query', /must be a string/],
    ['an empty query', of(['a'], { query: '' }), 'query', /must not be empty/],
    ['a list of queries', of(['a'], { query: ['a'] }), 'query', /must be a string/],
    ['no documents', { model: 'reranker', query: 'a' }, 'documents', SHAPE],
    ['null', of(null), 'documents', SHAPE],
    ['one text', of('a'), 'documents', SHAPE],
    ['an object', of({ text: 'a' }), 'documents', SHAPE],
    ['an empty array', of([]), 'documents', /must not be empty/],
    ['an empty document', of(['a', '']), 'documents[1]', /must not be empty/],
    ['an object with an empty text', of([{ text: '' }]), 'documents[0]', /must not be empty/],
    ['an object without a text', of(['a', { title: 'a' }]), 'documents[1]', SHAPE],
    ['an object whose text is none', of([{ text: ['a'] }]), 'documents[0]', SHAPE],
    ['a number among texts', of(['a', 1]), 'documents[1]', SHAPE],
    ['null among texts', of(['a', null]), 'documents[1]', SHAPE],
    ['an array among texts', of(['a', ['a']]), 'documents[1]', SHAPE],
    ['1,001 documents', of(Array(1001).fill('a')), 'documents', /at most 1,000 documents/],
    ['top 0', of(['a'], { top_n: 0 }), 'top_n', /at least 1/],
    ['half of one', of(['a'], { top_n: 0.5 }), 'top_n', /whole number/],
    ['more than anybody means', of(['a'], { top_n: 1e6 + 1 }), 'top_n', /at most 1000000\.$/],
    [
      'chunks without end',
      of(['a'], { max_chunks_per_doc: 2 ** 63 }),
      'max_chunks_per_doc',
      /at most 1000000\.$|whole number/,
    ],
    ['top_n as text', of(['a'], { top_n: '1' }), 'top_n', /whole number/],
    ['return_documents as text', of(['a'], { return_documents: 'yes' }), 'return_documents', /must be true or false/],
    ['truncation that is not yes or no', of(['a'], { truncate: 'END' }), 'truncate', /must be true or false/],
    ['no chunks', of(['a'], { max_chunks_per_doc: 0 }), 'max_chunks_per_doc', /at least 1/],
    [
      'a limit of tokens',
      of(['a'], { max_tokens_per_doc: 512 }),
      'max_tokens_per_doc',
      /not supported.*"truncate": true/,
    ],
    ['fields to rank by', of([{ text: 'a' }], { rank_fields: ['title'] }), 'rank_fields', /not supported/],
    ['an array', [], null, /must be a JSON object/],
    ['no JSON', '{"query":', null, /^The body is not valid JSON: expected a value at character 9\.$/],
  ])('are a 400: %s', async (_what, body, param, message) => {
    const { status, json } = await server.post(PATH, body);
    expect(status).toBe(400);
    expect(json).toEqual({
      error: { message: expect.stringMatching(message), type: 'invalid_request_error', param, code: 'invalid_request' },
    });
  });

  it('are told of the endpoint of a model that ranks nothing, and of one that does', async () => {
    const decider = await server.post(PATH, { ...of(['a']), model: 'kev' });
    expect([decider.status, decider.json.error.code]).toEqual([400, 'model_type_mismatch']);
    expect(decider.json.error.message).toMatch(/POST \/ai\/v1\/systemone/);
    const ranker = await server.post('/ai/v1/embeddings', { model: 'reranker', input: 'a' });
    expect(ranker.json.error.message).toMatch(/POST \/ai\/v1\/rerank/);
  });
});
