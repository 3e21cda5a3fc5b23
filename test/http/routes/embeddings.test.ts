// POST /ai/v1/embeddings: what is answered and what is refused.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embeddingReplySchema } from '../../../src/http/schemas/embedding-reply.ts';
import { MINI } from '../../application/fake-engine.ts';
import { startTestServer, type TestServer } from '../../application/test-server.ts';

const PATH = '/ai/v1/embeddings';
const of = (input: unknown, more: object = {}) => ({ model: 'text-embed-mini', input, ...more });

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.app.close());

describe('answers', () => {
  it('are one vector for each input, in their order', async () => {
    const reply = await server.post(PATH, of(['one', 'three words here']));
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [3, 4, 5, 6].map((n) => Math.fround(n / 7)) },
        { object: 'embedding', index: 1, embedding: [16, 17, 18, 19].map((n) => Math.fround(n / 7)) },
      ],
      model: 'text-embed-mini',
      usage: { prompt_tokens: 4, total_tokens: 4 },
    });
    expect(reply.headers['x-umpire-model-digest']).toBe(MINI.digest);
    expect(reply.headers['server-timing']).toMatch(/^queue;dur=/);
  });

  it('are the same numbers in base64', async () => {
    const { json } = await server.post(PATH, of('one', { encoding_format: 'base64' }));
    const bytes = Buffer.from(json.data[0].embedding, 'base64');
    expect([0, 4, 8, 12].map((offset) => bytes.readFloatLE(offset))).toEqual(
      [3, 4, 5, 6].map((n) => Math.fround(n / 7)),
    );
  });

  it.each([
    ['a string', 'text', 1],
    ['strings', ['a', 'b'], 2],
    ['a space', ' ', 1],
    ['2,048 inputs', Array(2048).fill('a'), 2048],
  ])('are given to %s', async (_what, input, count) => {
    const reply = await server.post(PATH, of(input));
    expect(reply.status).toBe(200);
    expect(reply.json.data).toHaveLength(count);
    expect(embeddingReplySchema.safeParse(reply.json).error).toBeUndefined();
  });

  it.each([
    ['null options', { encoding_format: null, dimensions: null }],
    ['a user', { user: 'someone' }],
    ['unknown fields', { input_type: 'query' }],
  ])('are given to %s', async (_what, more) => {
    expect((await server.post(PATH, of('a', more))).status).toBe(200);
  });

  it.each([
    ['no', undefined, false],
    ['null', null, false],
    ['false', false, false],
    ['true', true, true],
  ])('are made after handing on %s as the wish to have long inputs cut', async (_what, truncate, expected) => {
    const { engine } = server;
    const { embed } = engine;
    const asked: unknown[] = [];
    engine.embed = async (job, caller) => {
      asked.push(job.truncate);
      return { ...(await embed(job, caller)), truncated: job.truncate ? [1] : [] };
    };
    const { status, json } = await server.post(PATH, of(['a', 'b', 'c'], { truncate }));
    engine.embed = embed;
    expect([status, asked]).toEqual([200, [expected]]);
    expect(json.data.map((item: object) => 'truncated' in item)).toEqual([false, expected, false]);
    if (expected) expect(json.data[1].truncated).toBe(true);
    expect(embeddingReplySchema.safeParse(json).error).toBeUndefined();
  });

  it('are made after handing on the wanted dimensions', async () => {
    expect((await server.post(PATH, of('a', { dimensions: 2 }))).json.data[0].embedding).toHaveLength(2);
  });

  it('are written whole, however long', async () => {
    const { engine } = server;
    const { embed } = engine;
    const vector = Float32Array.from({ length: 384 }, (_, index) => Math.sin(index));
    engine.embed = async (job, caller) => ({ ...(await embed(job, caller)), embeddings: job.inputs.map(() => vector) });
    const { json } = await server.post(PATH, of(Array(500).fill('a')));
    engine.embed = embed;
    expect(json.data.map((item: { index: number }) => item.index)).toEqual([...Array(500).keys()]);
    expect(Float32Array.from(json.data[499].embedding)).toEqual(vector);
  });
});

describe('token ids', () => {
  it.each([
    ['of one text', [101, 0, 102]],
    ['of several texts', [[101], [7, 8]]],
    ['of one text, as LangChain sends it', [[15339, 1917]]],
    ['with something that is none', [1, 'a']],
  ])('%s are refused by default, with what to do instead', async (_what, input) => {
    const { status, json } = await server.post(PATH, of(input));
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ code: 'invalid_request', param: 'input' });
    expect(json.error.message).toMatch(
      /^The field 'input' holds token ids, .*Send the text itself.*check_embedding_ctx_length=False/,
    );
  });

  it.each([
    ['arrays of arrays of texts', [['a']]],
    ['an empty array', [[]]],
    ['a number', 5],
  ])('are not what %s are', async (_what, input) => {
    const { status, json } = await server.post(PATH, of(input));
    expect(status).toBe(400);
    expect(json.error.message).toBe(
      'The field \'input\' must be a string or an array of strings, such as ["one text", "another"].',
    );
  });

  it('are not offered in the description', async () => {
    const { json } = await server.get('/openapi.json');
    expect(JSON.stringify(json.components.schemas.EmbeddingRequest.properties.input)).not.toContain('integer');
  });

  describe('that are those of the model', () => {
    let taking: TestServer;
    beforeAll(async () => {
      taking = await startTestServer({ tokenArrays: 'model' });
    });
    afterAll(() => taking.app.close());
    const SHAPES = /a string, an array of strings, an array of token ids, or an array of such arrays/;

    it.each([
      ['of one text', [101, 0, 102], [[101, 0, 102]]],
      ['of several texts', [[101], [7, 8]], [[101], [7, 8]]],
    ])('%s are handed on where the server takes them', async (_what, input, expected) => {
      const { embed } = taking.engine;
      let asked: unknown;
      taking.engine.embed = (job, caller) => {
        asked = job.inputs;
        return embed(job, caller);
      };
      expect((await taking.post(PATH, of(input))).json.data).toHaveLength(expected.length);
      expect(asked).toEqual(expected);
      taking.engine.embed = embed;
      const { json } = await taking.get('/openapi.json');
      expect(JSON.stringify(json.components.schemas.EmbeddingRequest.properties.input)).toContain('integer');
    });

    it.each([
      ['an empty token array among others', of([[1], []]), 'input[1]', /must not be empty/],
      ['mixed kinds', of(['a', 1]), 'input[1]', SHAPES],
      ['mixed arrays', of([[1], 'a']), 'input[1]', SHAPES],
      ['booleans', of([true, false]), 'input[0]', SHAPES],
      ['a fraction', of([1, 1.5]), 'input[1]', /whole number/],
      ['a negative id', of([[1], [2, -3]]), 'input[1][1]', /whole number/],
      ['text among token ids', of([1, 'a']), 'input[1]', /whole number/],
    ])('are a 400: %s', async (_what, body, param, message) => {
      const { status, json } = await taking.post(PATH, body);
      expect(status).toBe(400);
      expect(json.error).toMatchObject({ message: expect.stringMatching(message), param, code: 'invalid_request' });
    });
  });
});

describe('refusals', () => {
  const SHAPES = /^The field 'input' must be a string or an array of strings, such as \["one text", "another"\]\.$/;
  it.each([
    ['no model', { input: 'a' }, 'model', /must be a string/],
    ['no input', { model: 'text-embed-mini' }, 'input', SHAPES],
    ['null', of(null), 'input', SHAPES],
    ['an object', of({ text: 'a' }), 'input', SHAPES],
    ['an empty string', of(''), 'input', /must not be empty/],
    ['an empty array', of([]), 'input', /must not be empty/],
    ['an empty string among others', of(['a', '', 'b']), 'input[1]', /must not be empty/],
    ['mixed kinds', of(['a', 1]), 'input[1]', SHAPES],
    ['booleans', of([true, false]), 'input[0]', SHAPES],
    ['2,049 inputs', of(Array(2049).fill('a')), 'input', /at most 2,048 inputs/],
    ['another encoding', of('a', { encoding_format: 'hex' }), 'encoding_format', /"float" or "base64"/],
    ['no dimensions', of('a', { dimensions: 0 }), 'dimensions', /at least 1/],
    ['half a dimension', of('a', { dimensions: 1.5 }), 'dimensions', /whole number/],
    ['dimensions as text', of('a', { dimensions: '4' }), 'dimensions', /whole number/],
    ['truncation that is not yes or no', of('a', { truncate: 'END' }), 'truncate', /must be true or false/],
    ['an array', [], null, /must be a JSON object/],
    ['no JSON', '{"input":', null, /^The body is not valid JSON: expected a value at character 9\.$/],
    ['deep nesting', `{"input":${'['.repeat(1_000_000)}`, null, /more than 64 levels/],
  ])('are a 400: %s', async (_what, body, param, message) => {
    const { status, json } = await server.post(PATH, body);
    expect(status).toBe(400);
    expect(json).toEqual({
      error: { message: expect.stringMatching(message), type: 'invalid_request_error', param, code: 'invalid_request' },
    });
  });
});
