// Learnings from their order to their end, over a learner that the test moves by hand and a journal in memory.

import { beforeEach, describe, expect, it } from 'vitest';
import { FakeLearner, REPORT } from '../../../test/application/fake-learner.ts';
import type { AuditRecord } from '../../domain/audit.ts';
import { StoreUnavailableError } from '../../domain/errors.ts';
import { LearningService, type NewLearning } from './learning.ts';

const NOUL = { type: 'noul', instructions: 'Is it urgent?' };
const ROWS = [
  { state: 'now!', gold: { urgent: true } },
  { state: 'some day', gold: { urgent: false } },
];
const ORDER: NewLearning = {
  ...{ modelId: 'support', base: 'kev', usesEmbedder: false, addsRows: false },
  ...{ rows: ROWS, questions: { urgent: NOUL } },
};

let learner: FakeLearner;
let audit: AuditRecord[];
let storeFault: Error | undefined;
let nowMs: number;
let service: LearningService;

function open(): LearningService {
  return new LearningService({
    ...{ learner, models: learner.models, journal: learner.journal, maxRows: () => 3, nowMs: () => nowMs },
    audit: {
      record: async (record) => {
        if (storeFault !== undefined) throw storeFault;
        audit.push(record);
      },
    },
    onEvent: (event) => learner.events.push(event),
  });
}

beforeEach(() => {
  learner = new FakeLearner();
  audit = [];
  storeFault = undefined;
  nowMs = 1000;
  service = open();
});

const learn = (wanted: Partial<NewLearning> = {}) => service.learn({ ...ORDER, ...wanted }, 'key_1');
const actions = () => audit.map(({ action }) => action);
const job = (id = 'support') => service.get(id).job;
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('an order', () => {
  it('hands the checked rows to the learner, and says what was begun', async () => {
    expect(await learn()).toMatchObject({
      ...{ modelId: 'support', base: 'kev', rows: 2, state: 'running', startedAtMs: 1000, startedBy: 'key_1' },
      ...{ endedAtMs: null, digest: null, digestBefore: null, error: null, report: null },
    });
    expect(learner.learning.order.rows.map(({ line, state }) => [line, state])).toEqual([
      [1, 'now!'],
      [2, 'some day'],
    ]);
    expect(learner.learning.order.rows[0]?.questions[0]).toMatchObject({ task: 'urgent', target: [0, 1] });
  });

  it('is written to the audit trail first, without its rows', async () => {
    const { id } = await learn();
    expect(audit).toEqual([
      {
        ...{ atMs: 1000, actor: 'key_1', action: 'model.learn', target: 'support' },
        details: { job: id, base: 'kev', embedder: false, more: false, rows: 2 },
      },
    ]);
  });

  it('begins nothing while the audit trail cannot be written', async () => {
    storeFault = new StoreUnavailableError('gone');
    await expect(learn()).rejects.toBe(storeFault);
    expect(learner.learnings).toEqual([]);
    storeFault = undefined;
    await learn();
  });

  it.each([
    [{ modelId: 'kev' }, 'conflict', 'id'],
    [{ addsRows: true }, 'model_not_found', 'id'],
    [{ rows: [...ROWS, ...ROWS] }, 'request_too_large', 'rows'],
    [{ rows: [ROWS[0], { state: 1 }] }, 'invalid_request', 'rows[1]'],
  ])('of %j is refused', async (wanted, code, param) => {
    await expect(learn(wanted)).rejects.toMatchObject({ code, param });
    expect(learner.learnings).toEqual([]);
    expect(audit).toEqual([]);
  });

  it('tells each row at fault, and no word of it', async () => {
    const rows = [
      { state: 'secret', gold: { secret: true } },
      { state: 'secret', questions: { secret: { ...NOUL, gold: 'secret' } } },
      {
        state: 'secret',
        questions: [{ type: 'choice', instructions: 'secret', criteria: { a: null }, gold: 'secret' }],
      },
    ];
    await expect(learn({ rows })).rejects.toMatchObject({
      message: [
        'rows[0]: it answers a question that is none of the shared ones',
        "rows[1]: the 'gold' of a noul must be true or false",
        'rows[2]: what it says is right is none of its options.',
      ].join('; '),
    });
  });

  it.each([
    [{ type: 'score', instructions: '?', criteria: ['one'], gold: 0 }, 'a score has 2 to 10 levels'],
    [
      { type: 'choice', instructions: '?', criteria: { a: null }, gold: 'a' },
      'a choice of one option leaves nothing to learn',
    ],
    [
      {
        ...{ type: 'choice', instructions: '?', gold: '1' },
        criteria: Object.fromEntries(Array.from({ length: 256 }, (_, index) => [index, null])),
      },
      'a choice has 255 options at most',
    ],
  ])('keeps to the limits of a request', async (question, message) => {
    await expect(learn({ rows: [{ state: '', questions: [question] }] })).rejects.toMatchObject({
      message: `rows[0]: ${message}.`,
    });
  });

  it('has questions that are right, also those that no row answers', async () => {
    const questions = { urgent: NOUL, secret: { type: 'noul' } };
    await expect(learn({ questions })).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'questions[1]: it has no instructions.',
      param: 'questions[1]',
    });
    expect(learner.learnings).toEqual([]);
  });

  it('is refused while another is carried out, also by whoever asks in the same moment', async () => {
    const [first, second] = await Promise.allSettled([learn(), learn({ modelId: 'other' })]);
    expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
    await expect(learn()).rejects.toMatchObject({ code: 'conflict' });
    learner.learning.stop();
    await settled();
    await learn({ modelId: 'other' });
  });

  it('may not build on a learned model', async () => {
    await learn();
    await learner.write('sha256:1');
    await settled();
    await expect(learn({ modelId: 'other', base: 'support' })).rejects.toMatchObject({ param: 'model' });
  });
});

describe('a learning', () => {
  it('tells how far it is', async () => {
    await learn();
    learner.learning.watch.progressed({ step: 'reading', done: 1, total: 2 });
    expect(job()).toMatchObject({ state: 'running', progress: { step: 'reading', done: 1, total: 2 } });
  });

  it('is served when it has ended, and its record was there before its folder', async () => {
    await learn();
    await learner.learning.watch.reported(REPORT);
    expect(actions()).toEqual(['model.learn', 'model.write']);
    expect(job()).toMatchObject({ state: 'running', report: REPORT });
    expect(service.get('support').status).toBeUndefined();
    learner.models.onDisk.set('support', 'sha256:1');
    nowMs = 5000;
    learner.learning.end({ type: 'written', digest: 'sha256:1' });
    await settled();
    expect(service.get('support')).toMatchObject({
      status: { card: { digest: 'sha256:1' } },
      job: { state: 'succeeded', digest: 'sha256:1', endedAtMs: 5000, error: null },
    });
  });

  it('may not write what the audit trail has no record of', async () => {
    await learn();
    storeFault = new StoreUnavailableError('gone');
    await expect(learner.learning.watch.reported(REPORT)).rejects.toBe(storeFault);
  });

  it('that fails leaves the model that was there, and says why', async () => {
    await learn();
    await learner.write('sha256:1');
    await settled();
    await learn({ addsRows: true, base: undefined });
    const error = { code: 'base_changed', message: 'The base has changed since.' } as const;
    learner.learning.end({ type: 'failed', error });
    await settled();
    expect(service.get('support')).toMatchObject({
      status: { card: { digest: 'sha256:1' } },
      job: { state: 'failed', error, digest: null, digestBefore: 'sha256:1', base: null },
    });
    expect(actions().at(-1)).toBe('model.fail');
  });

  it('whose process is gone says so', async () => {
    await learn();
    learner.learning.end({ type: 'lost', reason: 'it crashed (SIGSEGV)' });
    await settled();
    expect(job()).toMatchObject({
      state: 'failed',
      error: { code: 'process_lost', message: expect.stringContaining('SIGSEGV') },
    });
  });

  it('whose process is gone after the folder was in its place has succeeded', async () => {
    await learn();
    await learner.learning.watch.reported(REPORT);
    learner.models.onDisk.set('support', 'sha256:1');
    learner.learning.end({ type: 'lost', reason: 'it was killed' });
    await settled();
    expect(service.get('support')).toMatchObject({
      status: { card: { digest: 'sha256:1' } },
      job: { state: 'succeeded' },
    });
  });

  it('that cannot be taken in is told, and what was served goes on', async () => {
    await learn();
    learner.models.loadFault = new Error('broken');
    await learner.write('sha256:1');
    await settled();
    expect(job()).toMatchObject({ state: 'failed', error: { code: 'not_served', message: 'broken' } });
  });

  it('tells its begin and end to the log without a word of a row', async () => {
    await learn();
    await learner.write('sha256:1');
    await settled();
    expect(learner.events.map(({ message }) => message)).toEqual(['learning began', 'learning ended']);
    expect(JSON.stringify(learner.events)).not.toMatch(/now!|some day|urgent/);
    expect(learner.journal.text).not.toMatch(/now!|some day|urgent/);
  });
});

describe('removing', () => {
  it('cancels what is under way, and the model that was there stays', async () => {
    await learn();
    await learner.write('sha256:1');
    await settled();
    await learn();
    expect(await service.remove('support', 'key_2')).toBe('cancelled');
    expect(learner.learning.isStopped).toBe(true);
    expect(service.get('support')).toMatchObject({
      status: { card: { digest: 'sha256:1' } },
      job: { state: 'cancelled', error: null },
    });
    expect(audit.at(-1)).toMatchObject({ action: 'model.cancel', actor: 'key_2', target: 'support' });
  });

  it('takes the model away, its record first, and what was known of its learning', async () => {
    await learn();
    await learner.write('sha256:1');
    await settled();
    expect(await service.remove('support', 'key_2')).toBe('removed');
    expect(audit.at(-1)).toMatchObject({ action: 'model.remove', details: { digest: 'sha256:1' } });
    expect(service.list()).toEqual([]);
    expect(() => service.get('support')).toThrow('no learned model');
  });

  it('forgets a learning that made nothing', async () => {
    await learn();
    learner.learning.end({ type: 'lost', reason: 'it crashed' });
    await settled();
    expect(await service.remove('support', 'key_2')).toBe('removed');
    expect(service.list()).toEqual([]);
  });

  it('changes nothing while the audit trail cannot be written', async () => {
    await learn();
    await learner.write('sha256:1');
    await settled();
    storeFault = new StoreUnavailableError('gone');
    await expect(service.remove('support', 'key_2')).rejects.toBe(storeFault);
    expect(service.get('support').status?.card?.digest).toBe('sha256:1');
  });

  it('of nothing is refused', async () => {
    await expect(service.remove('support', 'key_2')).rejects.toMatchObject({ code: 'model_not_found' });
  });
});

describe('the end of the server', () => {
  it('ends what is under way, and takes nothing more', async () => {
    await learn();
    await service.close();
    expect(learner.learning.isStopped).toBe(true);
    expect(job()).toMatchObject({ state: 'failed', error: { code: 'interrupted' } });
    await expect(learn()).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('waits for what is just being written', async () => {
    await learn();
    await learner.learning.watch.reported(REPORT);
    const closing = service.close();
    learner.models.onDisk.set('support', 'sha256:1');
    learner.learning.end({ type: 'written', digest: 'sha256:1' });
    await closing;
    expect(learner.learning.isStopped).toBe(false);
    expect(job()).toMatchObject({ state: 'succeeded' });
  });
});

describe('the next start', () => {
  it('knows how learnings ended', async () => {
    await learn();
    await learner.write('sha256:1');
    await settled();
    await service.close();
    service = open();
    await service.start();
    expect(job()).toMatchObject({ state: 'succeeded', digest: 'sha256:1', report: { questions: [{ rows: 40 }] } });
  });

  it('says of one that was cut off that it was', async () => {
    const { id } = await learn();
    service = open();
    await service.start();
    expect(job()).toMatchObject({ id, state: 'failed', error: { code: 'interrupted' } });
  });

  it('says of one that was cut off after it had put its folder in place that it succeeded', async () => {
    await learn();
    await learner.learning.watch.reported(REPORT);
    learner.models.served.set('support', 'sha256:1');
    service = open();
    await service.start();
    expect(job()).toMatchObject({ state: 'succeeded', digest: 'sha256:1' });
  });

  it('begins without what cannot be read', async () => {
    learner.journal.text = 'no JSON';
    await service.start();
    expect(service.list()).toEqual([]);
    expect(learner.events).toMatchObject([{ level: 'warn' }]);
  });
});
