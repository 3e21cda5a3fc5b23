// States that are objects or arrays: refused as the protocol says, or read as text where the configuration allows them.

import { describe, expect, it } from 'vitest';
import { startTestServer } from '../../application/test-server.ts';

const PATH = '/ai/v1/systemone';
const QUESTIONS = { q: { type: 'noul', instructions: 'Is it urgent?' } };

describe('a state that is an object', () => {
  it('is a 400 by default, in the words of the protocol', async () => {
    const server = await startTestServer();
    const reply = await server.post(PATH, { model: 'kev', state: { subject: 'Refund' }, questions: QUESTIONS });
    expect(reply.status).toBe(400);
    expect(reply.json.error.message).toBe("The field 'state' must be a string.");
    await server.app.close();
  });

  it('reaches the engine as labelled lines where it is allowed', async () => {
    const server = await startTestServer({ structuredState: true });
    const states: string[] = [];
    const { decide } = server.engine;
    server.engine.decide = (job, caller) => {
      states.push(job.state);
      return decide(job, caller);
    };
    const state = { subject: 'Refund', tags: ['urgent', 'billing'] };
    expect((await server.post(PATH, { model: 'kev', state, questions: QUESTIONS })).status).toBe(200);
    expect((await server.post(PATH, { model: 'kev', state: 'plain', questions: QUESTIONS })).status).toBe(200);
    expect((await server.post(PATH, { model: 'kev', state: 5, questions: QUESTIONS })).status).toBe(400);
    expect(states).toEqual(['subject: Refund\ntags: urgent, billing', 'plain']);
    await server.app.close();
  });
});

describe('a state that is a list of text parts', () => {
  const text = (text: unknown) => ({ type: 'text', text });

  it.each([{ structuredState: false }, { structuredState: true }])('is read as its text with %o', async (options) => {
    const server = await startTestServer(options);
    const states: string[] = [];
    const { decide } = server.engine;
    server.engine.decide = (job, caller) => {
      states.push(job.state);
      return decide(job, caller);
    };
    const ask = (state: unknown) => server.post(PATH, { model: 'kev', state, questions: QUESTIONS });
    const [asText, asPart, asParts] = await Promise.all([
      ask('One.\nTwo.'),
      ask([text('One.\nTwo.')]),
      ask([text('One.'), { ...text('Two.'), providerOptions: { some: 1 } }]),
    ]);
    expect(states).toEqual(['One.\nTwo.', 'One.\nTwo.', 'One.\nTwo.']);
    expect(asText.status).toBe(200);
    expect(asPart.text).toBe(asText.text);
    expect(asParts.text).toBe(asText.text);
    await server.app.close();
  });

  it.each([
    ['no part', []],
    ['a part of another type', [text('One.'), { type: 'json', value: {} }]],
    ['a part without text', [{ type: 'text' }]],
    ['a part whose text is no string', [text(1)]],
    ['a part without type', [{ text: 'One.' }]],
    ['a string among the parts', [text('One.'), 'Two.']],
    ['a list among the parts', [[text('One.')]]],
    ['a part that is no list', text('One.')],
  ])('is a 400 in the words of the protocol with %s', async (_what, state) => {
    const server = await startTestServer();
    const reply = await server.post(PATH, { model: 'kev', state, questions: QUESTIONS });
    expect(reply.status).toBe(400);
    expect(reply.json.error).toMatchObject({ message: "The field 'state' must be a string.", param: 'state' });
    await server.app.close();
  });
});
