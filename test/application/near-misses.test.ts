// What strangers get wrong first: the address, the model's name, the form of a question. Accepted where it can only mean
// one thing, otherwise answered with what was meant.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEV_KEY, startTestServer, type TestServer } from './test-server.ts';

const decision = { model: 'kev', state: '', questions: { q: { type: 'noul', instructions: '?' } } };
const BASES = 'A base address ends in /ai/v1, or in /ai for a client that adds /v1 itself.';
const ALL = 'GET /openapi.json describes all of them.';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.app.close());

describe('a path', () => {
  it.each([
    '/ai/v1/systemone',
    '/ai/v1/systemone/',
    '/ai/v1/systemone/?a=1',
    '/ai//v1/systemone',
    '//ai/v1/systemone',
    '/ai/v1//systemone',
    '/v1/systemone',
    '/v1/systemone/',
    '//v1/systemone',
  ])('%s is served', async (path) => {
    const { status, json } = await server.post(path, decision);
    expect([status, json.model]).toEqual([200, 'kev']);
  });

  it('under either base is the same route to whatever counts routes', async () => {
    await server.get('/v1/models/');
    expect(server.log.at(-1)).toMatchObject({ route: '/ai/v1/models', status: 200 });
    expect((await server.get('/v1/models/kev/')).json.id).toBe('kev');
    expect((await server.get('/v1/nowhere', { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await server.get('/v1/systemone')).headers['allow']).toBe('POST');
    expect((await server.get('/healthz/')).status).toBe(200);
  });

  it('is not served under the short base where that is switched off', async () => {
    const strict = await startTestServer({ shortBase: false });
    const reply = await strict.post('/v1/systemone', decision);
    expect([reply.status, reply.json.error.message]).toEqual([
      404,
      `No such route. Did you mean POST /ai/v1/systemone? ${BASES} ${ALL}`,
    ]);
    expect((await strict.post('/ai/v1/systemone/', decision)).status).toBe(200);
    await strict.app.close();
  });

  it.each([
    ['POST', '/systemone', 'POST /ai/v1/systemone'],
    ['POST', '/ai/systemone', 'POST /ai/v1/systemone'],
    ['POST', '/ai/v1/v1/systemone', 'POST /ai/v1/systemone'],
    ['POST', '/v1/ai/v1/systemone', 'POST /ai/v1/systemone'],
    ['POST', '/ai/v2/systemone', 'POST /ai/v1/systemone'],
    ['POST', '/ai/v1/systemOne', 'POST /ai/v1/systemone'],
    ['POST', '/ai/v1/system-one', 'POST /ai/v1/systemone'],
    ['POST', '/AI/V1/systemone', 'POST /ai/v1/systemone'],
    ['POST', '/chat/completions', 'POST /ai/v1/chat/completions'],
    ['POST', '/ai/chat/completions', 'POST /ai/v1/chat/completions'],
    ['POST', '/openai/v1/chat/completions', 'POST /ai/v1/chat/completions'],
    ['POST', '/api/v1/chat/completions/', 'POST /ai/v1/chat/completions'],
    ['POST', '/ai/v1/completion', 'POST /ai/v1/completions'],
    ['POST', '/v1/chat', 'POST /ai/v1/chat/completions'],
    ['POST', '/ai/v1/chat/completion', 'POST /ai/v1/chat/completions'],
    ['POST', '/ai/v1/embedding', 'POST /ai/v1/embeddings'],
    ['POST', '/rerank', 'POST /ai/v1/rerank'],
    ['POST', '/ai/v1/re-rank', 'POST /ai/v1/rerank'],
    ['POST', '/ai/v1/reranker', 'POST /ai/v1/rerank'],
    ['GET', '/models', 'GET /ai/v1/models'],
    ['GET', '/ai/v1/model', 'GET /ai/v1/models'],
    ['GET', '/health', 'GET /healthz'],
    ['GET', '/ready', 'GET /readyz'],
    ['GET', '/metric', 'GET /metrics'],
    ['GET', '/ai/openapi.json', 'GET /openapi.json'],
  ] as const)('%s %s is told of %s', async (method, path, meant) => {
    const { status, json } = await server.send(method, path, method === 'POST' ? decision : undefined);
    const bases = meant.includes(' /ai/') ? `${BASES} ` : '';
    expect([status, json.error]).toEqual([
      404,
      {
        message: `No such route. Did you mean ${meant}? ${bases}${ALL}`,
        type: 'not_found_error',
        param: null,
        code: 'not_found',
      },
    ]);
  });

  it.each(['/nowhere', '/', '/ai', '/v1', '/ai/v1/batches', `/ai/v1/${'x'.repeat(2000)}`, '/.env', '/wp-login.php'])(
    '%s is near to none',
    async (path) => {
      const { status, json } = await server.get(path);
      expect([status, json.error.message]).toEqual([404, `No such route. ${ALL}`]);
    },
  );

  it('that is wrong is never repeated', async () => {
    const messages = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.webPath(), fc.constantFrom('GET', 'POST'), async (path, method) => {
        const { status, text } = await server.send(method as 'GET', `/a${path}`);
        expect(status).toBeLessThan(500);
        if (status === 404) messages.add(text);
      }),
      { numRuns: 300 },
    );
    // Words of ours alone: as many as there are routes, not as there are paths.
    expect(messages.size).toBeLessThan(12);
  });
});

describe('a model that does not exist', () => {
  const LIST = 'GET /ai/v1/models lists the models of this key.';
  const asked = async (model: string, headers = {}) =>
    (await server.post('/ai/v1/systemone', { ...decision, model }, headers)).json.error.message;

  it.each([
    ['Kev', 'kev'],
    ['kev-1', 'kev'],
    ['text_embed_mini', 'text-embed-mini'],
    ['LLAMA', 'llama'],
  ])('as %s is told of %s', async (model, meant) => {
    expect(await asked(model)).toBe(`The model does not exist. Did you mean "${meant}"? ${LIST}`);
    expect((await server.get(`/ai/v1/models/${model}`)).json.error.message).toContain(`"${meant}"`);
  });

  it('is told of no model that the key may not use', async () => {
    const headers = { authorization: `Bearer ${KEV_KEY}` };
    expect(await asked('LLAMA', headers)).toBe(`The model does not exist. ${LIST}`);
    expect(await asked('KEV', headers)).toContain('"kev"');
  });

  it('is told of none that is far', async () => {
    for (const model of ['gpt-4', '', 'x'.repeat(300)])
      expect(await asked(model)).toBe(`The model does not exist. ${LIST}`);
  });
});

describe('a form that is wrong', () => {
  const question = (more: object) => ({ ...decision, questions: { q: { instructions: '?', ...more } } });
  it.each([
    ['options in a list', '/ai/v1/systemone', question({ type: 'choice', criteria: ['a', 'b'] })],
    ['levels in an object', '/ai/v1/systemone', question({ type: 'score', criteria: { low: 'a', high: 'b' } })],
    ['sides in a list', '/ai/v1/systemone', question({ type: 'noul', criteria: ['no', 'yes'] })],
    ['a question that is a text', '/ai/v1/systemone', { ...decision, questions: { q: 'Is it?' } }],
    ['a text in an object', '/ai/v1/embeddings', { model: 'text-embed-mini', input: { text: 'a' } }],
    ['messages that are a text', '/ai/v1/chat/completions', { model: 'llama', messages: 'Hello' }],
  ])('%s: is answered with one that is right', async (_what, path, body) => {
    const { status, json } = await server.post(path, body);
    expect(status).toBe(400);
    const [, example = ''] = /such as (.*)\.$/.exec(json.error.message) ?? [];
    expect(() => JSON.parse(example)).not.toThrow();
    // The example does what it promises.
    const mended = JSON.stringify(body)
      .replace(JSON.stringify((body as { input?: unknown }).input), example)
      .replace('"Hello"', example)
      .replace('"Is it?"', example)
      .replace(/"criteria":(\[[^\]]*\]|\{[^}]*\})/, `"criteria":${example.replaceAll('$', '$$$$')}`);
    expect((await server.post(path, mended)).status).toBe(200);
  });
});
