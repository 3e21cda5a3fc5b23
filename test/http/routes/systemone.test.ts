// POST /ai/v1/systemone: what is answered, what is refused and with which words.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DecideJob } from '../../../src/engine/engine.ts';
import { decisionReplySchema } from '../../../src/http/schemas/decision-reply.ts';
import { KEV } from '../../application/fake-engine.ts';
import { startTestServer, type TestServer } from '../../application/test-server.ts';

const PATH = '/ai/v1/systemone';
const choice = { type: 'choice', instructions: 'Which team?', criteria: { billing: 'payments', technical: null } };
const noul = { type: 'noul', instructions: 'Is it urgent?' };
const score = { type: 'score', instructions: 'How angry?', criteria: ['calm', 'cross', 'furious'] };
const request = (questions: unknown) => ({ model: 'kev', state: 'I was charged twice.', questions });
const one = (question: unknown) => request({ q: question });
const options = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`option ${i}`, null]));

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.app.close());

describe('answers', () => {
  it('come for the three question types by the names of the request', async () => {
    const reply = await server.post(PATH, request({ department: choice, urgent: noul, anger: score }));
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      model: 'kev',
      answers: {
        department: {
          type: 'choice',
          choice: 'technical',
          probabilities: { billing: 1 / 3, technical: 2 / 3 },
          confidence: expect.closeTo(1 / 3, 12),
        },
        urgent: { type: 'noul', noul: 1 / 3 },
        anger: {
          type: 'score',
          score: expect.closeTo(4 / 3, 12),
          legend: { 0: 'calm', 1: 'cross', 2: 'furious' },
          probabilities: { 0: 1 / 6, 1: 1 / 3, 2: 1 / 2 },
          confidence: expect.any(Number),
        },
      },
      usage: { input_tokens: 11, output_tokens: 0 },
    });
    expect(decisionReplySchema.safeParse(reply.json).error).toBeUndefined();
  });

  it('say how long it took and which weights answered', async () => {
    const { headers } = await server.post(PATH, one(choice));
    expect(headers['server-timing']).toBe('queue;dur=0.250, tokenize;dur=0.500, infer;dur=2.000');
    expect(headers['x-umpire-model-digest']).toBe(KEV.digest);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('keep any text as a name, in the order of the request', async () => {
    const names = [
      'b',
      '10',
      '2',
      '',
      '__proto__',
      'constructor',
      'toString',
      'a "quoted"\n\u0000name',
      '\ud800',
      '🧾',
    ];
    const options = names.map((name) => `${JSON.stringify(name)}:null`).join(',');
    const question = `{"type":"choice","instructions":"?","criteria":{${options}}}`;
    const questions = names.map((name) => `${JSON.stringify(name)}:${question}`).join(',');
    const reply = await server.post(PATH, `{"model":"kev","state":"","questions":{${questions}}}`);
    expect(reply.status).toBe(200);
    const places = names.map((name) => reply.text.indexOf(`${JSON.stringify(name)}:{"type":"choice"`));
    expect(places.every((place, index) => place > (places[index - 1] ?? 0))).toBe(true);
    const probabilities = names.map((name, index) => `${JSON.stringify(name)}:${(2 * (index + 1)) / 110}`).join(',');
    expect(reply.text.split(`"probabilities":{${probabilities}}`)).toHaveLength(names.length + 1);
  });

  it('are asked of the engine by questions without their names, texts untouched', async () => {
    const texts = ['[SEP] [MASK]', 'NUL \u0000', 'lone \ud800', 'emoji 🙂', 'שלום', 'x'.repeat(100_000)];
    const jobs: DecideJob[] = [];
    const { engine } = server;
    const { decide } = engine;
    engine.decide = (job, caller) => {
      jobs.push(job);
      return decide(job, caller);
    };
    for (const text of texts) {
      const question = { type: 'choice', instructions: text, criteria: { [text.slice(0, 1000)]: text } };
      expect((await server.post(PATH, { model: 'kev', state: text, questions: { 'the name': question } })).status).toBe(
        200,
      );
    }
    engine.decide = decide;
    expect(jobs.map((job) => job.state)).toEqual(texts);
    expect(jobs.map((job) => job.questions)).toEqual(
      texts.map((text) => [
        { type: 'choice', instructions: text, options: [{ name: text.slice(0, 1000), description: text }] },
      ]),
    );
  });

  it.each([
    ['no criteria', noul, null, null],
    ['null criteria', { ...noul, criteria: null }, null, null],
    ['empty criteria', { ...noul, criteria: {} }, null, null],
    ['one side', { ...noul, criteria: { true: 'yes' } }, null, 'yes'],
    ['both sides and something else', { ...noul, criteria: { true: 'yes', false: null, maybe: 3 } }, null, 'yes'],
  ])('are given to a noul with %s', async (_what, question, whenFalse, whenTrue) => {
    const { engine } = server;
    const { decide } = engine;
    const jobs: DecideJob[] = [];
    engine.decide = (job, caller) => {
      jobs.push(job);
      return decide(job, caller);
    };
    const reply = await server.post(PATH, one(question));
    engine.decide = decide;
    expect(reply.json.answers).toEqual({ q: { type: 'noul', noul: 1 / 3 } });
    expect(jobs[0]?.questions).toEqual([{ type: 'noul', instructions: noul.instructions, whenFalse, whenTrue }]);
  });

  it.each([
    ['1 option', one({ ...choice, criteria: options(1) })],
    ['255 options', one({ ...choice, criteria: options(255) })],
    ['2 levels', one({ ...score, criteria: ['a', 'b'] })],
    ['10 levels', one({ ...score, criteria: Array(10).fill('same') })],
    ['64 questions', request(Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`${i}`, choice])))],
    ['1,024 questions', request(Object.fromEntries(Array.from({ length: 1024 }, (_, i) => [`${i}`, noul])))],
    ['a name of 1,024 characters', request({ ['n'.repeat(1024)]: noul })],
    ['an empty state', { ...one(noul), state: '' }],
    ['unknown fields', { ...one({ ...noul, weight: 3 }), temperature: 1, '': {} }],
    ['a byte order mark', `\ufeff${JSON.stringify(one(noul))}`],
  ])('are given to %s', async (_what, body) => {
    const reply = await server.post(PATH, body);
    expect(reply.status).toBe(200);
    expect(decisionReplySchema.safeParse(reply.json).error).toBeUndefined();
  });

  it('are a failure of ours when the engine gives a number that is none', async () => {
    const { engine } = server;
    const { decide } = engine;
    engine.decide = async (job, caller) => ({
      ...(await decide(job, caller)),
      answers: [{ type: 'noul', noul: Number.NaN }],
    });
    const reply = await server.post(PATH, one(noul));
    engine.decide = decide;
    expect([reply.status, reply.json.error.code]).toEqual([500, 'internal_error']);
    expect(reply.text).not.toContain('NaN');
  });
});

describe('refusals', () => {
  const STATE = "The field 'state' must be a string.";
  const QUESTIONS = "The field 'questions' must be a non-empty object.";
  const INSTRUCTIONS = 'question "q" has no instructions';
  const LEVELS = [
    "The 'criteria' of a score must be an array of 2 to 10 strings, lowest level first,",
    'such as ["calm", "annoyed", "angry"].',
  ].join(' ');
  const OPTIONS = [
    "The 'criteria' of a choice must be an object with at least one option, each with what it means or null,",
    'such as {"billing": "payments, refunds", "other": null}.',
  ].join(' ');
  const QUESTION = 'A question must be an object, such as {"type": "noul", "instructions": "Is it urgent?"}.';
  const LONG = 'n'.repeat(1025);
  const twice = '{"model":"kev","state":"","questions":{"q":{"type":"noul","instructions":"?"},"q":1}}';

  it.each([
    // The mission's own messages.
    ['no state', { model: 'kev', questions: { q: noul } }, 'state', STATE],
    ['a null state', { ...one(noul), state: null }, 'state', STATE],
    ['an object as state', { ...one(noul), state: { a: 1 } }, 'state', STATE],
    ['no questions', { model: 'kev', state: '' }, 'questions', QUESTIONS],
    ['empty questions', request({}), 'questions', QUESTIONS],
    ['questions in an array', request([noul]), 'questions', QUESTIONS],
    ['questions as text', request('noul'), 'questions', QUESTIONS],
    ['null questions', request(null), 'questions', QUESTIONS],
    ['no instructions', one({ type: 'noul' }), 'questions[0]', INSTRUCTIONS],
    ['empty instructions', one({ ...choice, instructions: '' }), 'questions[0]', INSTRUCTIONS],
    ['null instructions', one({ ...choice, instructions: null }), 'questions[0]', INSTRUCTIONS],
    ['instructions that are no text', one({ ...choice, instructions: ['?'] }), 'questions[0]', INSTRUCTIONS],
    ['a question of nothing', one({}), 'questions[0]', INSTRUCTIONS],
    // Ours.
    ['no model', { state: '', questions: { q: noul } }, 'model', "The field 'model' must be a string."],
    ['a number as model', { ...one(noul), model: 7 }, 'model', "The field 'model' must be a string."],
    ['a question that is no object', one('noul'), 'questions[0]', QUESTION],
    ['a null question', one(null), 'questions[0]', QUESTION],
    ['an unknown type', one({ ...noul, type: 'essay' }), 'questions[0].type', /"choice", "score" or "noul"/],
    ['no type', one({ instructions: '?' }), 'questions[0].type', /"choice", "score" or "noul"/],
    ['no criteria', one({ type: 'choice', instructions: '?' }), 'questions[0].criteria', OPTIONS],
    ['0 options', one({ ...choice, criteria: {} }), 'questions[0].criteria', OPTIONS],
    ['options in an array', one({ ...choice, criteria: ['a', 'b'] }), 'questions[0].criteria', OPTIONS],
    [
      '256 options',
      one({ ...choice, criteria: options(256) }),
      'questions[0].criteria',
      'A choice takes at most 255 options.',
    ],
    [
      'a number as description',
      one({ ...choice, criteria: { a: null, b: 3 } }),
      'questions[0].criteria[1]',
      /string or null/,
    ],
    [
      'a long option name',
      one({ ...choice, criteria: { [LONG]: null } }),
      'questions[0].criteria[0]',
      /1,024 characters/,
    ],
    ['0 levels', one({ ...score, criteria: [] }), 'questions[0].criteria', LEVELS],
    ['1 level', one({ ...score, criteria: ['a'] }), 'questions[0].criteria', LEVELS],
    ['11 levels', one({ ...score, criteria: Array(11).fill('a') }), 'questions[0].criteria', LEVELS],
    ['levels in an object', one({ ...score, criteria: { 0: 'a', 1: 'b' } }), 'questions[0].criteria', LEVELS],
    ['a null level', one({ ...score, criteria: ['a', null] }), 'questions[0].criteria[1]', 'A level must be a string.'],
    ['noul criteria in an array', one({ ...noul, criteria: ['a'] }), 'questions[0].criteria', /'true' and 'false'/],
    ['a number as a side', one({ ...noul, criteria: { true: 1 } }), 'questions[0].criteria.true', /string or null/],
    ['the second question', request({ a: noul, b: { ...noul, type: 'x' } }), 'questions[1].type', /"noul"/],
    ['a long question name', request({ a: noul, [LONG]: noul }), 'questions[1]', /1,024 characters/],
    [
      'too many questions',
      request(Object.fromEntries([...Array(1025).keys()].map((i) => [i, noul]))),
      'questions',
      /1,024/,
    ],
    ['a name given twice', twice, null, /the same name twice in one object at character 78/],
    ['an array', [one(noul)], null, 'The body must be a JSON object.'],
    ['null', 'null', null, 'The body must be a JSON object.'],
    ['no JSON', 'state=1', null, /^The body is not valid JSON: /],
    ['half of JSON', '{"model":"kev","state":"abc', null, /a string without its end/],
    ['nothing', '', null, 'The body is empty; it must be a JSON object.'],
    ['deep nesting', `{"a":${'['.repeat(100_000)}`, null, /more than 64 levels of nesting/],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), null, 'The body is not valid UTF-8.'],
  ])('are a 400: %s', async (_what, body, param, message) => {
    const { status, json } = await server.post(PATH, body);
    expect(status).toBe(400);
    expect(json).toEqual({
      error: {
        message: typeof message === 'string' ? message : expect.stringMatching(message),
        type: 'invalid_request_error',
        param,
        code: 'invalid_request',
      },
    });
  });

  it('name the question as it was written, and keeps the name out of the log', async () => {
    const name = 'secret "name"\n';
    const reply = await server.post(PATH, request({ [name]: { type: 'noul' } }));
    expect(reply.json.error.message).toBe(`question "${name}" has no instructions`);
    expect(JSON.stringify(server.log)).not.toContain('secret');
  });

  it.each([
    ['model before state', { state: 1, questions: 1 }, "The field 'model' must be a string."],
    ['state before questions', { model: 'nope', state: 1, questions: {} }, STATE],
    ['questions before the model is looked up', { model: 'nope', state: '', questions: {} }, QUESTIONS],
    ['each question before the model is looked up', { model: 'nope', state: '', questions: { q: {} } }, INSTRUCTIONS],
    ['instructions before type', one({ type: 'essay' }), INSTRUCTIONS],
    ['the first question first', request({ a: { ...noul, type: 'x' }, b: {} }), /"noul"/],
  ])('are given for %s', async (_what, body, message) => {
    const { json } = await server.post(PATH, body);
    expect(json.error.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  });
});
