// `umpire eval` and `umpire calibrate` as typed, on models of other families: what they print, what a folder says of
// itself afterwards, and that a server starts with it.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readFolderFile } from '../../src/runtime/model-folder/folder-file.ts';
import type { DecisionCase, GoldenFile } from '../../src/runtime/model-folder/golden.ts';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import { layForeignFolders } from '../fixtures/foreign-folders.ts';
import { runUmpire } from './run-umpire.ts';
import { ServerProcess } from './server-process.ts';

const MODELS = ['deberta-nli', 'laya'];
const root = mkdtempSync(join(tmpdir(), 'umpire-foreign-rows-'));

const criteria = { refund: 'money back', order: 'it is late', other: null };
const QUESTIONS = {
  team: { type: 'choice', instructions: 'Which team?', criteria },
  late: { type: 'noul', instructions: 'The parcel is late.' },
  open: { type: 'noul', instructions: 'Is it open?', criteria: { true: 'it is open', false: 'it is closed' } },
};
/** Random weights know nothing of these answers: the flattest temperature is best. One question is asked too seldom. */
const rows = Array.from({ length: 60 }, (_, i) => ({
  state: `the order ${i} of the customer is ${i % 2 === 0 ? 'late' : 'open'}`,
  gold: { team: Object.keys(criteria)[i % 3], ...(i < 20 ? { late: i % 4 < 2, open: i % 3 === 0 } : {}) },
}));

beforeAll(() => {
  layForeignFolders(root, MODELS);
  writeFileSync(join(root, 'rows.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  writeFileSync(join(root, 'questions.json'), JSON.stringify(QUESTIONS));
});
afterAll(() => rmSync(root, { recursive: true }));

function umpire(command: string, model: string, ...more: readonly string[]) {
  return runUmpire([command, 'rows.jsonl', '--questions', 'questions.json', '--model', join(root, model), ...more], {
    cwd: root,
  });
}

async function readGolden(model: string): Promise<GoldenFile<DecisionCase>> {
  return JSON.parse((await readFolderFile(join(root, model), 'golden.json')).toString());
}

it.each(MODELS)('%s is measured', async (model) => {
  const { code, out, error } = await umpire('eval', model, '--limit', '30');
  expect(error).toBe('');
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`^30 rows, 70 questions, ${model} \\(sha256:[0-9a-f]{64}\\)$`, 'm'));
  expect(out).toMatch(/^team +30 +[01]\.\d{3} /m);
  expect(out).toMatch(/^late +20 +[01]\.\d{3} /m);
  expect(out).toContain('Options in another order, 30 questions: a probability changes by 0 at most.');
});

it.each(MODELS)('%s is calibrated, and says so', async (model) => {
  const folder = join(root, model);
  const [before, goldenBefore] = [await readModelFolder(folder), await readGolden(model)];
  const text = readFileSync(join(folder, 'model.json'), 'utf8');
  const { code, out, error } = await umpire('calibrate', model, '--json');
  expect(error).toBe('');
  expect(code).toBe(0);
  const report = JSON.parse(out);
  expect(report.groups).toMatchObject([
    { type: 'choice', options: '3-5', answers: 60, verdict: 'fitted', temperature: 0.75 },
    { type: 'noul', options: '2', answers: 40, verdict: 'too few answers' },
  ]);
  expect(report.after.nll).toBeLessThan(report.before.nll);
  expect(report.digest).toBe(before.digest);

  const after = await readModelFolder(folder);
  expect(after.digest).toBe(report.new_digest);
  expect(after.digest).not.toBe(before.digest);
  const fitted = report.groups[0].new_temperature;
  const wanted = text.replace('"3-5": 0.75', `"3-5": ${fitted}`).replace('"calibrated": false', '"calibrated": true');
  expect(readFileSync(join(folder, 'model.json'), 'utf8')).toBe(wanted);

  const golden = await readGolden(model);
  for (const [place, { questions, probabilities }] of golden.cases.entries()) {
    for (const [at, question] of questions.entries()) {
      const [old, now] = [goldenBefore.cases[place]?.probabilities, probabilities].map((all) => all?.['fp32']?.[at]);
      const isTouched = question.type === 'choice' && old !== undefined && old.length >= 3 && old.length <= 5;
      if (isTouched) expect(Math.max(...(now ?? []))).toBeLessThan(Math.max(...old));
      else expect(now).toEqual(old);
    }
  }
});

it.each(MODELS)('%s has nothing to gain from the same rows again', async (model) => {
  const { digest } = await readModelFolder(join(root, model));
  const again = await umpire('calibrate', model);
  expect(again.error).toBe('');
  expect(again.out).toContain('Nothing to write: the temperatures stay as they are.');
  expect(again.code).toBe(0);
  expect((await readModelFolder(join(root, model))).digest).toBe(digest);
});

it('a model whose temperatures are the best already counts as calibrated from then on', async () => {
  const [folder = ''] = layForeignFolders(join(root, 'untouched'), ['laya']);
  const before = await readModelFolder(folder);
  const lines = rows.map(({ state }, i) => JSON.stringify({ state, gold: { late: i % 4 < 2 } }));
  writeFileSync(join(root, 'late.jsonl'), lines.join('\n'));
  const late = ['late.jsonl', '--questions', 'questions.json', '--model', folder];
  const { code, out } = await runUmpire(['calibrate', ...late], { cwd: root });
  expect(code).toBe(0);
  expect(out).toMatch(/^noul +2 +60 +5 .*kept: a new one is no better/m);
  expect(out).toContain('The temperatures stay as they are, and the model counts as calibrated.\nWritten: ');
  const after = await readModelFolder(folder);
  expect(after.manifest).toEqual({ ...before.manifest, calibrated: true });
  expect(after.digest).not.toBe(before.digest);
  expect(readdirSync(folder).filter((name) => name.startsWith('golden.'))).toEqual(['golden.json']);
});

it('a server starts with the calibrated folders and tells what they are', async () => {
  const server = new ServerProcess({ UMPIRE_MODELS: MODELS.map((model) => join(root, model)).join(',') });
  try {
    const url = await server.ready();
    const reply = await fetch(`${url}/ai/v1/models`, { headers: { authorization: `Bearer ${server.initialKey()}` } });
    const { data } = (await reply.json()) as { data: readonly { id: string; calibrated: boolean; digest: string }[] };
    const digests = await Promise.all(MODELS.map(async (model) => (await readModelFolder(join(root, model))).digest));
    expect(data.map(({ id, calibrated, digest }) => ({ id, calibrated, digest }))).toEqual(
      MODELS.map((id, place) => ({ id, calibrated: true, digest: digests[place] })),
    );
  } finally {
    await server.dispose();
  }
});
