// Learning in a process of its own, on a tiny model: what it says, that it gives way, that nothing is written unless it is
// told to, and how each of its ends is told.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChildLearner } from '../../../src/app/learn/learn-child.ts';
import { readLearnedFolder } from '../../../src/app/learned/learned-folder.ts';
import { type Config, configSchema } from '../../../src/config/schema.ts';
import type { LearningOrder, LearningUnderWay, LearningWatch } from '../../../src/services/learning/learner.ts';
import type { LearningProgress, LearningReport } from '../../../src/services/learning/learning-job.ts';
import { readSentRows } from '../../../src/services/learning/row-reading.ts';
import { until } from '../../waiting/until.ts';

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures');
const WORD = 'xylophone';
const QUESTIONS = { urgent: { type: 'noul', instructions: `Is it urgent, ${WORD}?` } };
const SENT = Array.from({ length: 60 }, (_, index) => ({
  state: index % 2 === 0 ? `now now now ${WORD} ${index}` : `some day, perhaps ${WORD} ${index}`,
  gold: { urgent: index % 2 === 0 },
}));

let folder: string;
let order: LearningOrder;
let reports: LearningReport[];
let steps: LearningProgress[];
let underWay: LearningUnderWay | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-learn-'));
  const rows = await readSentRows({ rows: SENT, questions: QUESTIONS });
  order = { modelId: 'urgency', base: 'tiny-decision', usesEmbedder: false, addsRows: false, rows };
  reports = [];
  steps = [];
});
afterEach(async () => {
  underWay?.stop();
  await underWay?.ended;
  rmSync(folder, { recursive: true });
});

function settings(): Config {
  return { ...configSchema.parse({}), dataDir: folder, modelsDir: FIXTURES, models: ['tiny-decision'] };
}

function start(watch: Partial<LearningWatch> = {}, wanted: Partial<LearningOrder> = {}): LearningUnderWay {
  const learner = new ChildLearner(settings(), () => undefined);
  underWay = learner.start(
    { ...order, ...wanted },
    {
      progressed: (progress) => steps.push(progress),
      reported: async (report) => {
        reports.push(report);
      },
      ...watch,
    },
  );
  return underWay;
}

const modelFolder = () => join(folder, 'models', 'urgency');

/** Of this process. */
function findChildren(): number[] {
  const { stdout } = spawnSync('ps', ['--no-headers', '-o', 'pid=,args=', '--ppid', String(process.pid)]);
  const lines = String(stdout).split('\n');
  return lines.filter((line) => line.includes('learn-worker')).map((line) => Number(/\d+/.exec(line)?.[0]));
}

/** Of each of its threads; the last but one of its fields is the processor it ran on. */
function nicesOf(processId: number): number[] {
  const tasks = `/proc/${processId}/task`;
  return readdirSync(tasks).map((thread) => {
    const fields = readFileSync(join(tasks, thread, 'stat'), 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return Number(fields[16]);
  });
}

describe('a learning in a process of its own', () => {
  it('reports, and writes a model folder without a word of the rows', async () => {
    const end = await start().ended;
    expect(end).toEqual({ type: 'written', digest: expect.stringMatching(/^sha256:/) });
    expect((await readLearnedFolder(modelFolder())).digest).toBe('digest' in end && end.digest);
    expect(reports).toMatchObject([
      { skipped: [], questions: [{ type: 'noul', firstRow: 0, verdict: 'learned', rows: 60, documents: 60 }] },
    ]);
    expect(new Set(steps.map(({ step }) => step))).toEqual(new Set(['starting', 'reading', 'fitting', 'writing']));
    expect(steps.filter(({ step }) => step === 'reading').at(-1)).toMatchObject({ done: 60, total: 60 });
    expect(spawnSync('grep', ['-r', '-l', WORD, folder]).stdout.toString()).toBe('');
    expect(JSON.stringify(reports)).not.toContain(WORD);
  });

  it('writes nothing before it is told to', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const { ended } = start({
      reported: () => {
        asked.resolve();
        return answer.promise;
      },
    });
    await asked.promise;
    expect(existsSync(modelFolder())).toBe(false);
    answer.resolve();
    expect(await ended).toMatchObject({ type: 'written' });
  });

  it('ends without a trace when it must not write', async () => {
    const { ended } = start({ reported: () => Promise.reject(new Error('no')) });
    expect(await ended).toMatchObject({ type: 'lost' });
    expect(existsSync(modelFolder())).toBe(false);
  });

  it('says what it was killed by, and leaves the model that was there', async () => {
    const first = await start().ended;
    const second = start({ reported: () => new Promise(() => undefined) });
    const readBefore = steps.length;
    await until('it reads again', () => steps.slice(readBefore).some(({ step }) => step === 'reading'));
    second.stop();
    expect(await second.ended).toEqual({ type: 'lost', reason: expect.stringContaining('killed') });
    expect((await readLearnedFolder(modelFolder())).digest).toBe('digest' in first && first.digest);
  });

  it('lets a later one begin, whatever became of it', async () => {
    const first = start({ reported: () => new Promise(() => undefined) });
    await until('it has begun', () => steps.length > 0);
    first.stop();
    await first.ended;
    expect(await start().ended).toMatchObject({ type: 'written' });
  });

  it('tells what is wrong in words', async () => {
    expect(await start({}, { base: 'nobody' }).ended).toMatchObject({
      type: 'failed',
      error: { code: 'cannot_start', message: expect.stringContaining('no decision model "nobody"') },
    });
    expect(await start({}, { addsRows: true }).ended).toMatchObject({
      type: 'failed',
      error: { code: 'model_missing' },
    });
  });
});

describe.runIf(process.platform === 'linux')('its process', () => {
  it('has the lowest priority in each thread, and is told nothing of our environment', async () => {
    const asked = Promise.withResolvers<void>();
    start({
      reported: () => {
        asked.resolve();
        return new Promise(() => undefined);
      },
    });
    await asked.promise;
    const [child = 0, ...others] = findChildren();
    expect(others).toEqual([]);
    expect(new Set(nicesOf(child))).toEqual(new Set([19]));
    expect(readFileSync(`/proc/${child}/oom_score_adj`, 'utf8').trim()).toBe('1000');
    const variables = readFileSync(`/proc/${child}/environ`, 'utf8')
      .split('\0')
      .filter((one) => one !== '');
    expect(variables.map((one) => one.split('=')[0]).sort()).toEqual([
      'NODE_CHANNEL_FD',
      'NODE_CHANNEL_SERIALIZATION_MODE',
      'ORT_DISABLE_TELEMETRY',
    ]);
  });

  it('stays when a terminal or a supervisor tells the whole group to end, and says nothing', async () => {
    const { ended } = start({
      reported: async () => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(findChildren()[0] ?? 0, signal);
      },
    });
    expect(await ended).toMatchObject({ type: 'written' });
  });
});
