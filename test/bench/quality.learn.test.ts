// The learning bench as it is run: over a made-up folder of data, with a model of random weights.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { childEnvironment, ROOT } from '../process/server-process.ts';
import { tinyDecision } from '../workers/tiny-engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-learn-bench-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SUBJECTS = { animals: ['dog', 'cat', 'horse', 'cow'], money: ['bill', 'price', 'bank', 'coin'] };
const ROWS = 90;

it('measures what rows bring, keeps what the models read, and takes in the figures of others', async () => {
  const rows = Array.from({ length: ROWS }, (_, at) => {
    const label = at % 3 === 0 ? 'money' : 'animals';
    return { state: `${at}: the ${SUBJECTS[label][at % 4]}, and again a ${SUBJECTS[label][(at + 1) % 4]}`, label };
  });
  mkdirSync(join(folder, 'heldout'));
  writeFileSync(
    join(folder, 'heldout', 'subjects.jsonl.gz'),
    gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join('')),
  );
  const labels = { animals: null, money: null };
  const task = { task: 'subjects', split: 'heldout', type: 'choice', labels, instructions: ['what?'], licence: 'CC0' };
  writeFileSync(join(folder, 'tasks.json'), JSON.stringify([task]));
  const [kept, out] = [join(folder, 'kept'), join(folder, 'results')];
  const measure = () =>
    promisify(execFile)(
      process.execPath,
      [
        join(ROOT, 'bench', 'quality.ts'),
        ...['--learn', '--data', folder, '--model', tinyDecision, '--kept', kept, '--out', out, '--draws', '2'],
      ],
      { cwd: folder, env: childEnvironment({}) },
    );
  const first = await measure();
  expect(first.stdout).toContain('| subjects | 2 | 16 |');
  const read = () => JSON.parse(gunzipSync(readFileSync(join(out, 'learning-tiny-decision.json.gz'))).toString());
  const report = read();
  expect(report).toMatchObject({ base: { id: 'tiny-decision' }, embedder: { id: 'text-embed-mini' }, peers: [] });
  const [size] = report.tasks[0].sizes;
  expect(size).toMatchObject({ rowsPerOption: 8, trainingRows: 16, testRows: 74, draws: 2 });
  // What stands in a word is plain to the embedder.
  expect(size.figures.plain.accuracy.mean).toBeGreaterThan(0.9);
  expect(readFileSync(join(out, 'learning-tiny-decision.md'), 'utf8')).toBe(first.stdout);

  const [digests = ''] = readdirSync(kept);
  const draws = JSON.parse(readFileSync(join(kept, digests, 'draws.json'), 'utf8'));
  expect(draws.tasks).toMatchObject([{ task: 'subjects', file: 'subjects.rows', draws: [{ seed: 1 }, { seed: 2 }] }]);
  const peer = { name: 'other', version: '1', draws: [] };
  writeFileSync(join(kept, digests, 'peers.json'), JSON.stringify({ format: 1, peers: [peer] }));
  const second = await measure();
  expect(first.stderr).toContain('subjects: 0 of 90 rows read');
  expect(second.stderr).not.toContain('rows read');
  expect(read().peers).toEqual([peer]);
  expect(read().tasks).toEqual(report.tasks);
});
