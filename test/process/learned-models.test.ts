// A server whose data folder is full of learned models, some of which it cannot serve, and the commands about them.

import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layLearned, learnedQuestion, readTinyBase, STATE, WHERE } from '../app/learned/learned-draft.ts';
import { ScratchFolders } from '../hub/model-tree.ts';
import { tinyDecision } from '../workers/tiny-engine.ts';
import { runUmpire } from './run-umpire.ts';
import { ROOT, ServerProcess } from './server-process.ts';

const OTHER_DIGEST = `sha256:${'0'.repeat(64)}`;
const CHANGED = 'its base tiny-decision has changed since; learn it again: umpire learn FILE --name changed';
const WHERE_JSON = {
  type: 'choice',
  instructions: WHERE.instructions,
  criteria: { depot: null, harbour: 'at the quay' },
};

const scratch = new ScratchFolders();
const dataDir = scratch.make();
const env = { UMPIRE_DATA_DIR: dataDir, UMPIRE_MODELS: tinyDecision, UMPIRE_ENGINE_WORKERS: '1' };
let server: ServerProcess;
let address: string;
let headers: Record<string, string>;

beforeAll(async () => {
  const base = await readTinyBase();
  if (base.manifest.family !== 'split-encoder') throw new Error('The tiny model should be a split encoder.');
  const { heads, head_size: size } = base.manifest.shape;
  const dimensions = heads * size;
  // So sure of the first option by its hash that it is told from the base's random weights.
  const questions = [learnedQuestion(WHERE, 50, dimensions)];
  await layLearned(dataDir, { id: 'good', questions, dimensions });
  await layLearned(dataDir, { id: 'changed', base: { ...base, digest: OTHER_DIGEST } });
  writeFileSync(join(await layLearned(dataDir, { id: 'broken' }), 'heads.bin'), 'x');
  server = new ServerProcess({ ...env, UMPIRE_API_KEY: 'ump_test-of-learned-models' });
  headers = { authorization: 'Bearer ump_test-of-learned-models', 'content-type': 'application/json' };
  address = await server.ready();
});
afterAll(async () => {
  await server.dispose();
  scratch.dispose();
});

async function get(path: string) {
  const reply = await fetch(address + path, { headers });
  return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
}

function decide(model: string, questions: object): Promise<Response> {
  const body = JSON.stringify({ model, state: STATE, questions });
  return fetch(`${address}/ai/v1/systemone`, { method: 'POST', headers, body });
}

describe('a server with learned models', () => {
  it('starts, and says in its log, its readiness and its status why some are not served', async () => {
    expect(server.output).toContain(`the learned model changed is not served: ${CHANGED}`);
    expect(server.output).toMatch(/the learned model broken is not served: .*heads\.bin: checksum mismatch/);
    const models = [
      { id: 'tiny-decision', state: 'loaded' },
      { id: 'good', state: 'loaded' },
      { id: 'broken', state: 'failed', reason: 'its folder is broken, and the log of the server says where' },
      { id: 'changed', state: 'failed', reason: CHANGED },
    ];
    expect(await get('/readyz')).toEqual({ status: 200, json: { status: 'ready', models } });
    expect((await get('/admin/v1/status')).json['engine']).toMatchObject({ models });
  });

  it('answers by a head what was learned, by the base what was not, and says which', async () => {
    const other = { ...WHERE_JSON, instructions: 'Where will it be tomorrow?' };
    const [learned, alone] = await Promise.all([
      decide('good', { first: other, second: WHERE_JSON, third: other, fourth: other }),
      decide('tiny-decision', { first: other, second: WHERE_JSON }),
    ]);
    expect([learned.status, alone.status]).toEqual([200, 200]);
    expect(learned.headers.get('x-umpire-answered-by')).toBe('base, head, base*2');
    expect(alone.headers.has('x-umpire-answered-by')).toBe(false);
    const { json: card } = await get('/ai/v1/models/good');
    expect(learned.headers.get('x-umpire-model-digest')).toBe(card['digest']);
    const [byHead, byBase] = [await learned.json(), await alone.json()] as { model: string; answers: never }[];
    expect(byHead?.model).toBe('good');
    expect(byHead?.answers['first']).toEqual(byBase?.answers['first']);
    expect(byHead?.answers['second']).not.toEqual(byBase?.answers['second']);
    expect(byHead?.answers['second']).toMatchObject({ confidence: expect.closeTo(1, 5) });
  });

  it('tells what it has learned, in the list its base alone', async () => {
    const { asked, options } = learnedQuestion();
    expect((await get('/ai/v1/models/good')).json).toMatchObject({
      id: 'good',
      base: 'tiny-decision',
      learned: {
        base: 'tiny-decision',
        base_digest: (await readTinyBase()).digest,
        embedder: null,
        questions: [
          {
            type: 'choice',
            asked,
            options,
            rows: [8, 8],
            figures: {
              zero_shot: { accuracy: { mean: 0.5, spread: 0.05 } },
              learned: { accuracy: { mean: 0.75 }, answered_at_5: { mean: null, spread: 0.05 } },
            },
          },
        ],
      },
    });
    expect((await get('/ai/v1/models/tiny-decision')).json).toMatchObject({ base: null, learned: null });
    const { json } = await get('/ai/v1/models');
    const listed = (json['data'] as Record<string, unknown>[]).map(({ id, base, learned }) => [id, base, learned]);
    expect(listed).toEqual([
      ['tiny-decision', null, undefined],
      ['good', 'tiny-decision', undefined],
    ]);
  });

  it('refuses a request for one that is not served with the reason', async () => {
    const reply = await decide('changed', { where: WHERE_JSON });
    expect([reply.status, await reply.json()]).toEqual([
      503,
      {
        error: expect.objectContaining({ code: 'model_unavailable', message: `The model is not served: ${CHANGED}.` }),
      },
    ]);
    expect((await get('/ai/v1/models/changed')).status).toBe(503);
  });
});

describe('commands', () => {
  it('list learned models and say what is wrong with them', async () => {
    const { code, out } = await runUmpire(['models', 'list', '--json'], { cwd: ROOT, env });
    expect(code).toBe(0);
    const listed = (JSON.parse(out) as Record<string, string>[]).map(({ id, base, fault }) => [id, base, fault]);
    expect(listed).toEqual([
      ['tiny-decision', undefined, undefined],
      ['broken', undefined, expect.stringContaining('heads.bin: checksum mismatch')],
      ['changed', 'tiny-decision', CHANGED],
      ['good', 'tiny-decision', undefined],
    ]);
    const table = (await runUmpire(['models', 'list'], { cwd: ROOT, env })).out;
    expect(table).toMatch(/^good +decision +Apache-2\.0 +learned on tiny-decision /m);
    expect(table).toContain(`not served: ${CHANGED}`);
  });

  it('verify one, and look at all', async () => {
    const place = (id: string) => join(dataDir, 'models', id);
    const good = await runUmpire(['models', 'verify', place('good')], { cwd: ROOT, env });
    expect([good.code, good.out]).toEqual([0, expect.stringMatching(/^ok +good +sha256:[0-9a-f]{64} +on cpu /)]);
    const changed = await runUmpire(['models', 'verify', place('changed')], { cwd: ROOT, env });
    expect([changed.code, changed.error]).toEqual([1, expect.stringContaining(CHANGED)]);
    const { out } = await runUmpire(['doctor', '--quick'], { cwd: ROOT, env: { ...env, UMPIRE_PORT: '0' } });
    expect(out).toMatch(
      /^ok +model good +learned on tiny-decision, sha256:[0-9a-f]{12}, 1 question, all checksums right$/m,
    );
    expect(out).toMatch(/^warn +model changed +not served: its base tiny-decision has changed since/m);
    expect(out).toMatch(/^warn +model broken +not served: /m);
  });

  it('show all that is known of one', async () => {
    const { code, out } = await runUmpire(['models', 'inspect', 'good'], { cwd: ROOT, env });
    expect(code).toBe(0);
    expect(out).toMatch(/^type +decision \(learned\)$/m);
    expect(out).toMatch(/^base +tiny-decision \(sha256:[0-9a-f]{64}\)/m);
    const asked = learnedQuestion().asked.slice(0, 12);
    expect(out).toMatch(new RegExp(`^choice ${asked} +2 options, 16 rows, accuracy 50 % before, 75 % learned`, 'm'));
  });

  it('refuse to calibrate one', async () => {
    const rows = scratch.make({
      'rows.jsonl': `${JSON.stringify({ state: 'x', questions: { q: { ...WHERE_JSON, gold: 'depot' } } })}\n`,
    });
    const { code, error } = await runUmpire(['calibrate', join(rows, 'rows.jsonl'), '--model', 'good'], {
      cwd: ROOT,
      env,
    });
    expect([code, error]).toEqual([2, expect.stringContaining('good is a learned model')]);
  });

  it('remove one', async () => {
    await layLearned(dataDir, { id: 'extra' });
    const { code, out } = await runUmpire(['models', 'remove', 'extra', '--yes'], { cwd: ROOT, env });
    expect([code, out]).toEqual([0, expect.stringMatching(/^Removed: .*B\.\n$/)]);
    expect((await runUmpire(['models', 'list', '--json'], { cwd: ROOT, env })).out).not.toContain('extra');
  });

  it('say which of them are lost with a model that is removed', async () => {
    const pulled = () => cpSync(tinyDecision, join(dataDir, 'models', 'tiny-decision'), { recursive: true });
    pulled();
    const { out } = await runUmpire(['models', 'remove', 'tiny-decision', '--yes'], { cwd: ROOT, env });
    expect(out).toMatch(/^Removed: .*\. Learned on it, and not served without it: changed, good\.\n$/);
    pulled();
    const json = await runUmpire(['models', 'remove', 'tiny-decision', '--yes', '--json'], { cwd: ROOT, env });
    expect(JSON.parse(json.out)).toMatchObject({ learned_on_it: ['changed', 'good'], removed: true });
  });
});
