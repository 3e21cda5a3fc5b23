// Chat under generated bodies: what is valid reaches the upstream unchanged but for its model, what is not is a 4xx.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerHello, UPSTREAM_MODEL } from '../upstream/upstream-answers.ts';
import { startUpstream } from '../upstream/upstream-fixture.ts';
import { startTestServer } from './test-server.ts';

const PATH = '/ai/v1/chat/completions';
/** What the server acts on; any other member is the upstream's. */
const OURS = ['model', 'messages', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens'];

const extra = fc.dictionary(
  fc.string().filter((name) => !OURS.includes(name)),
  fc.jsonValue({ maxDepth: 4 }),
);
const white = fc.constantFrom(undefined, 1, '\t');

describe('chat under generated bodies', () => {
  it('passes every valid body on', async () => {
    const { double, upstream } = await startUpstream(answerHello);
    const server = await startTestServer({}, [upstream]);
    const messages = fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(extra, messages, white, async (fields, said, indent) => {
        const body = JSON.stringify({ ...fields, model: 'llama', messages: said }, null, indent);
        const reply = await server.post(PATH, body);
        expect([reply.status, reply.json.model]).toEqual([200, 'llama']);
        expect(double.lastRequest.json).toEqual({ ...JSON.parse(body), model: UPSTREAM_MODEL });
      }),
      { numRuns: 200 },
    );
    await server.app.close();
  });

  it('answers every other body with an error of the caller, in the one shape', async () => {
    const { upstream } = await startUpstream(answerHello);
    const server = await startTestServer({}, [upstream]);
    const anything = fc.record(
      Object.fromEntries(OURS.map((name) => [name, fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant('llama'))])),
      { requiredKeys: [] },
    );
    const text = fc.oneof(
      anything.map((body) => JSON.stringify(body)),
      fc.json(),
      fc.string({ minLength: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(text, async (body) => {
        const reply = await server.post(PATH, body);
        expect(reply.status).toBeLessThan(500);
        if (reply.status >= 400)
          expect(reply.json.error).toMatchObject({ message: expect.any(String), code: expect.any(String) });
      }),
      { numRuns: 300 },
    );
    await server.app.close();
  });
});
