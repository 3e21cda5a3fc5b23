// Whatever is sent: never a 5xx, always the error shape or a valid answer, and always a request id.

import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorCatalogue } from '../../src/domain/errors.ts';
import { errorBodySchema } from '../../src/http/schemas/error-body.ts';
import type { ChatUpstream } from '../../src/upstream/chat-upstream.ts';
import { expectDecision } from './expect-decision.ts';
import { LLAMA, startTestServer, type TestReply, type TestServer } from './test-server.ts';

const ECHO: ChatUpstream = {
  models: [LLAMA],
  complete: async ({ bodyText }) => ({ bodyText, usage: undefined }),
  stream: async ({ bodyText }) => ({ chunks: Readable.from([{ json: bodyText }]), usage: () => undefined }),
  close: async () => undefined,
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({}, [ECHO]);
});
afterAll(() => server.app.close());

function expectRefusal({ status, json }: TestReply): void {
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(errorBodySchema.safeParse(json).error).toBeUndefined();
  expect(errorCatalogue).toHaveProperty(json.error.code);
}

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('[SEP]', '\u0000', '\ud800', '__proto__'),
);
const anyName = fc.oneof(anyText, fc.constantFrom('', '0', '10', 'constructor', 'toString', 'true', 'n'.repeat(1025)));
const wrong = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(null, 0, -1, '', [], {}, true, 1e308));
/** Mostly the right value, sometimes any other, sometimes none. */
const mostly = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: 50, arbitrary: right },
    { weight: 1, arbitrary: wrong },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
const named = <T>(value: fc.Arbitrary<T>, maxLength: number) =>
  fc.array(fc.tuple(anyName, value), { maxLength }).map((entries) => new Map(entries));

const question = fc.oneof(
  fc.record({
    type: mostly(fc.constant('choice')),
    instructions: mostly(anyText),
    criteria: mostly(named(mostly(fc.oneof(anyText, fc.constant(null))), 6)),
  }),
  fc.record({
    type: mostly(fc.constant('score')),
    instructions: mostly(anyText),
    criteria: mostly(fc.array(mostly(anyText), { maxLength: 12 })),
  }),
  fc.record({
    type: mostly(fc.constant('noul')),
    instructions: mostly(anyText),
    criteria: mostly(fc.record({ true: mostly(anyText), false: mostly(anyText) }, { requiredKeys: [] })),
  }),
);
const model = mostly(fc.constantFrom('kev', 'kev', 'kev', 'text-embed-mini', 'llama', 'nope'));
const decision = fc.record({ model, state: mostly(anyText), questions: mostly(named(mostly(question), 5)) });
const embedding = fc.record({
  model: mostly(fc.constantFrom('text-embed-mini', 'text-embed-mini', 'kev')),
  input: fc.oneof(
    mostly(anyText),
    fc.array(mostly(anyText)),
    fc.array(mostly(fc.nat())),
    fc.array(mostly(fc.array(mostly(fc.nat())))),
  ),
  encoding_format: mostly(fc.constantFrom('float', 'base64', null)),
  dimensions: mostly(fc.integer({ min: 1, max: 8 })),
});
const chat = fc.record({
  model: mostly(fc.constant('llama')),
  messages: mostly(fc.array(wrong)),
  stream: mostly(fc.boolean()),
});

/** JSON text of Maps too; names given twice cannot come about. */
function write(value: unknown): string {
  if (value instanceof Map) return writeObject([...value]);
  if (Array.isArray(value)) return `[${value.map((item) => (item === undefined ? 'null' : write(item))).join(',')}]`;
  if (typeof value === 'object' && value !== null) return writeObject(Object.entries(value));
  return JSON.stringify(value);
}

function writeObject(entries: readonly (readonly [string, unknown])[]): string {
  const present = entries.filter(([, value]) => value !== undefined);
  return `{${present.map(([name, value]) => `${JSON.stringify(name)}:${write(value)}`).join(',')}}`;
}

const noise = fc.oneof(
  fc.json(),
  anyText,
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
);
const route = fc.constantFrom('/ai/v1/systemone', '/ai/v1/embeddings', '/ai/v1/chat/completions');

describe('never a 5xx', () => {
  it('for decisions: a valid answer or the error shape', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(decision, async (body) => {
        const text = write(body);
        const reply = await server.post('/ai/v1/systemone', text);
        if (reply.status !== 200) return expectRefusal(reply);
        answered += 1;
        expectDecision(text, reply.text);
      }),
      { numRuns: 1500 },
    );
    // The generators are of no use when nothing they make is good.
    expect(answered).toBeGreaterThan(50);
  });

  it('for embeddings', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(embedding, async (body) => {
        const reply = await server.post('/ai/v1/embeddings', write(body));
        if (reply.status !== 200) return expectRefusal(reply);
        answered += 1;
        const input = Array.isArray(body.input) && typeof body.input[0] !== 'number' ? body.input : [body.input];
        expect(reply.json.data).toHaveLength(input.length);
      }),
      { numRuns: 500 },
    );
    expect(answered).toBeGreaterThan(25);
  });

  it('for chat', async () => {
    await fc.assert(
      fc.asyncProperty(chat, async (body) => {
        const reply = await server.post('/ai/v1/chat/completions', write(body));
        if (reply.status !== 200) expectRefusal(reply);
      }),
      { numRuns: 300 },
    );
  });

  it('for noise on any route', async () => {
    await fc.assert(
      fc.asyncProperty(route, noise, async (path, body) => expectRefusal(await server.post(path, body))),
      { numRuns: 1000 },
    );
  });

  it('for good requests with bytes changed', async () => {
    const edit = fc.record({ at: fc.nat(), bytes: fc.uint8Array({ maxLength: 3 }) });
    await fc.assert(
      fc.asyncProperty(decision, edit, async (body, { at, bytes }) => {
        const text = Buffer.from(write(body));
        const index = at % (text.length + 1);
        const edited = Buffer.concat([text.subarray(0, index), bytes, text.subarray(index + 1)]);
        const reply = await server.post('/ai/v1/systemone', edited);
        if (reply.status !== 200) expectRefusal(reply);
      }),
      { numRuns: 500 },
    );
  });

  it('for any path, method and headers', async () => {
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');
    const path = fc.oneof(
      fc.webPath().map((suffix) => `/ai/v1${suffix}`),
      fc.webPath().map((suffix) => `/${suffix}`),
      route,
    );
    const header = fc.stringMatching(/^[\x20-\x7e]{0,40}$/);
    await fc.assert(
      fc.asyncProperty(method, path, header, header, header, async (verb, url, authorization, type, id) => {
        const headers = { authorization, 'content-type': type, 'x-request-id': id, origin: authorization };
        const reply = await server.app.inject({ method: verb, url, headers, payload: '{}' });
        expect(reply.statusCode).toBeLessThan(500);
        expect(reply.headers['x-request-id']).toMatch(/^[\x21-\x7e]{1,128}$/);
      }),
      { numRuns: 500 },
    );
  });
});
