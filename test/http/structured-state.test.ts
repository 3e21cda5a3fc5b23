// States that are objects or arrays: refused as the protocol says, or read as text where the configuration allows them.

import { describe, expect, it } from 'vitest';
import { startTestServer } from './test-server.ts';

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
