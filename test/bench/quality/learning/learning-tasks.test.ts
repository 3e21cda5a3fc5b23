import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { readHeldoutTasks } from '../../../../bench/quality/decision-tasks.ts';
import { readLearningTasks } from '../../../../bench/quality/learning/learning-tasks.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-learning-tasks-'));
afterAll(() => rmSync(folder, { recursive: true }));

function writeTask(task: string, rows: readonly unknown[]): void {
  mkdirSync(join(folder, 'heldout'), { recursive: true });
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(join(folder, 'heldout', `${task}.jsonl.gz`), gzipSync(lines));
}

const said = (instructions: string, gold: boolean) => ({ type: 'noul', instructions, gold });

it('each task is one question in one wording, each document once', () => {
  const labels = { task: 'bills', split: 'heldout', type: 'choice', licence: 'CC0', labels: { due: null, paid: null } };
  const dialogues = { task: 'sgd_unseen_services', split: 'heldout', type: 'mixed', licence: 'x', labels: null };
  writeFileSync(
    join(folder, 'tasks.json'),
    JSON.stringify([
      { ...labels, instructions: ['Which?', 'What of it?'] },
      { ...dialogues, instructions: [] },
    ]),
  );
  writeTask('bills', [
    { state: 'one', label: 'due' },
    { state: 'two', label: 'paid' },
    { state: 'one', label: 'due' },
  ]);
  writeTask('sgd_unseen_services', [
    { state: 'a', questions: [said('Is it late?', true)] },
    { state: 'b', questions: [said('The user states a new goal.', true), said('user asks for details', false)] },
    { state: 'c', questions: [said('Does the last message bring up a new task?', false)] },
  ]);
  const tasks = readLearningTasks(folder, readHeldoutTasks(folder, 100));
  expect(tasks.map(({ name, question, rows }) => [name, question.instructions, rows])).toEqual([
    [
      'bills',
      'Which?',
      [
        { state: 'one', target: [1, 0] },
        { state: 'two', target: [0, 1] },
      ],
    ],
    [
      'dialogues: new task',
      'Does the last message bring up a new task?',
      [
        { state: 'b', target: [0, 1] },
        { state: 'c', target: [1, 0] },
      ],
    ],
    [
      'dialogues: asks for a detail',
      'The last message requests a detail from the assistant.',
      [{ state: 'b', target: [1, 0] }],
    ],
  ]);
});
