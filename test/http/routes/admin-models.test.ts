// /admin/v1/models: learned models over a real store, with a learner that the test moves by hand.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminServer, type Caller, MAX_ROWS } from '../../application/admin-server.ts';

const SECRET = 'a text that must stay where it was sent to';
const ROWS = [
  { state: `${SECRET} now`, gold: { urgent: true } },
  { state: `${SECRET} later`, gold: { urgent: false } },
];
const QUESTIONS = { urgent: { type: 'noul', instructions: `Is it urgent? ${SECRET}` } };
const BODY = { id: 'support', model: 'kev', questions: QUESTIONS, rows: ROWS };

let server: AdminServer;
let admin: Caller;
beforeEach(async () => {
  server = await AdminServer.start();
  admin = await server.createCaller({ name: 'operator', scopes: ['admin'] });
});
afterEach(() => server.close());

const learn = (body: object = {}) => server.post('/admin/v1/models', admin, { ...BODY, ...body });
const get = (id = 'support') => server.get(`/admin/v1/models/${id}`, admin);
const remove = (id = 'support') => server.server.send('DELETE', `/admin/v1/models/${id}`, undefined, admin.headers);
const audit = async () => (await server.get('/admin/v1/audit', admin)).json.data;
const written = async (digest = 'sha256:1') => {
  await server.learner.write(digest);
  await nextTurn();
};

describe('a model to learn', () => {
  it('is accepted with a job to ask for', async () => {
    const reply = await learn();
    expect([reply.status, reply.headers['location']]).toEqual([202, '/admin/v1/models/support']);
    expect(reply.json).toEqual({
      ...{ object: 'learned_model', id: 'support', state: 'absent', reason: null, digest: null },
      job: {
        ...{ object: 'learning_job', id: expect.stringMatching(/^learn_[0-9a-f]{32}$/), state: 'running' },
        progress: { step: 'starting', done: 0, total: 0 },
        ...{ base: 'kev', embedder: false, more: false, rows: 2 },
        ...{ started_at: new Date(server.clock.nowMs).toISOString(), started_by: admin.key.id, ended_at: null },
        ...{ digest: null, error: null, report: null },
      },
    });
    expect((await get()).json).toEqual(reply.json);
    expect(server.learner.learning.order).toMatchObject({ modelId: 'support', base: 'kev', addsRows: false });
  });

  it('tells its progress, then its report, then that it is served', async () => {
    await learn({ embedder: true });
    const { learning } = server.learner;
    learning.watch.progressed({ step: 'reading', done: 1, total: 2 });
    expect((await get()).json.job.progress).toEqual({ step: 'reading', done: 1, total: 2 });
    await written();
    const { json } = await get();
    expect(json).toMatchObject({ state: 'served', digest: 'sha256:1', job: { state: 'succeeded', embedder: true } });
    expect(json.job.report.skipped).toEqual([{ row: 3, reason: 'it has more tokens than the model takes' }]);
    expect(json.job.report.questions[0]).toMatchObject({
      ...{ type: 'choice', first_row: 0, verdict: 'learned', rows: 40, documents: 39, would_more_help: true },
      options: [{ rows: 38, is_scarce: false }, { is_scarce: true }],
      zero_shot: { accuracy: { mean: 0.64, spread: 0.02 }, answered_at_5: null },
      learned: { accuracy: { mean: 0.78 } },
      learning_curve: [{ rows_per_option: 8, rows: 16, accuracy: { mean: 0.7 } }],
      contradictions: [[1, 2]],
      suspects: [{ row: 5, labelled: 0, likelier: 1, probability: 0.97 }],
    });
  });

  it('is in the list, without its report', async () => {
    await learn();
    await written();
    const { json } = await server.get('/admin/v1/models', admin);
    expect(json).toMatchObject({
      object: 'list',
      data: [{ id: 'support', state: 'served', job: { state: 'succeeded', report: null } }],
    });
  });

  it('takes packed rows', async () => {
    const headers = { ...admin.headers, 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const payload = gzipSync(JSON.stringify(BODY));
    const reply = await server.server.app.inject({ method: 'POST', url: '/admin/v1/models', headers, payload });
    expect(reply.statusCode).toBe(202);
  });

  it('has the base of the model whose rows it adds to, and else the shipped one', async () => {
    const { model: _, ...body } = BODY;
    await server.post('/admin/v1/models', admin, body);
    expect(server.learner.learning.order.base).toBe('kev');
    await written();
    await server.post('/admin/v1/models', admin, { ...body, more: true });
    expect(server.learner.learning.order).toMatchObject({ base: undefined, addsRows: true });
  });

  it('tells why it failed', async () => {
    await learn();
    server.learner.learning.end({ type: 'failed', error: { code: 'nothing_gained', message: 'No question gains.' } });
    await nextTurn();
    expect((await get()).json).toMatchObject({
      state: 'absent',
      job: { state: 'failed', error: { code: 'nothing_gained', message: 'No question gains.' } },
    });
  });
});

describe('an order that cannot be carried out', () => {
  it.each([
    [{ id: 'Support' }, 400, 'invalid_request', 'id'],
    [{ id: '../x' }, 400, 'invalid_request', 'id'],
    [{ id: 'kev' }, 409, 'conflict', 'id'],
    [{ model: 'nobody' }, 404, 'model_not_found', 'model'],
    [{ model: 'text-embed-mini' }, 400, 'model_type_mismatch', 'model'],
    [{ more: true, id: 'nobody' }, 404, 'model_not_found', 'id'],
    [{ more: 'yes' }, 400, 'invalid_request', 'more'],
    [{ rows: [] }, 400, 'invalid_request', 'rows'],
    [{ rows: 'none' }, 400, 'invalid_request', 'rows'],
    [{ rows: [ROWS[0], { state: SECRET, gold: { urgent: SECRET } }] }, 400, 'invalid_request', 'rows[1]'],
    [{ rows: [{ state: SECRET, gold: { [SECRET]: true } }] }, 400, 'invalid_request', 'rows[0]'],
    [{ rows: Array.from({ length: MAX_ROWS + 1 }, () => ROWS[0]) }, 413, 'request_too_large', 'rows'],
    [{ rowz: [] }, 400, 'invalid_request', null],
  ])('is refused: %#', async (change, status, code, param) => {
    const reply = await learn(change);
    expect([reply.status, reply.json.error.code, reply.json.error.param]).toEqual([status, code, param]);
    expect(reply.text).not.toContain(SECRET);
    expect(server.learner.learnings).toEqual([]);
  });

  it('is one with a body over the limit, before it is read', async () => {
    const reply = await learn({ rows: [{ state: 'x'.repeat(5 * 1024 * 1024), gold: { urgent: true } }] });
    expect([reply.status, reply.json.error.code]).toEqual([413, 'request_too_large']);
  });

  it('is one while another model is learned', async () => {
    await learn();
    const reply = await learn({ id: 'other' });
    expect([reply.status, reply.json.error.code]).toEqual([409, 'conflict']);
    expect(reply.json.error.message).toContain('support');
  });

  it('is one of a key without the scope', async () => {
    const user = await server.createCaller({ scopes: ['inference'] });
    expect((await server.post('/admin/v1/models', user, BODY)).status).toBe(403);
  });

  it('is one of a key that may not use the base', async () => {
    const other = await server.createCaller({ scopes: ['admin'], models: ['text-*'] });
    expect((await server.post('/admin/v1/models', other, BODY)).json.error.code).toBe('model_not_allowed');
  });
});

describe('DELETE', () => {
  it('cancels what is under way', async () => {
    await learn();
    expect((await remove()).json).toEqual({ object: 'learned_model_removal', id: 'support', outcome: 'cancelled' });
    expect((await get()).json.job).toMatchObject({ state: 'cancelled', error: null });
  });

  it('removes the model', async () => {
    await learn();
    await written();
    expect((await remove()).json.outcome).toBe('removed');
    expect(server.learner.models.onDisk.size).toBe(0);
    expect([(await get()).status, (await remove()).status]).toEqual([404, 404]);
  });
});

describe('the trail and the log', () => {
  it('have who did what, and no word of a row', async () => {
    await learn();
    await written();
    await remove();
    await learn();
    await remove();
    const records = await audit();
    const done = ['model.cancel', 'model.learn', 'model.remove', 'model.write', 'model.learn'];
    expect(records.slice(0, 5).map(({ action }: { action: string }) => action)).toEqual(done);
    expect(records[0]).toMatchObject({ actor: admin.key.id, target: 'support' });
    expect(JSON.stringify([records, server.server.log, server.learner.journal.text])).not.toContain(SECRET);
  });
});
