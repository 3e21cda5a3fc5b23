// The last line of a CI run counts what really happened, and its exit code agrees.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const COUNT = resolve(import.meta.dirname, '../../.ci/count.mjs');
const folder = mkdtempSync(join(tmpdir(), 'umpire-count-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const loaded = { status: 'passed', assertionResults: [{ status: 'passed' }] };
const unloaded = { status: 'failed', assertionResults: [] };
const green = { numPassedTests: 5, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [loaded] };

/** @param exitCodes of the tests and of each check */
function count(report: object | undefined, exitCodes: readonly number[]): { line: string; status: number | null } {
  const file = join(folder, 'report.json');
  rmSync(file, { force: true });
  if (report !== undefined) writeFileSync(file, JSON.stringify(report));
  const { stdout, status } = spawnSync(process.execPath, [COUNT, file, ...exitCodes.map(String)], { encoding: 'utf8' });
  return { line: stdout.trimEnd().split('\n').at(-1) ?? '', status };
}

it.each([
  ['all green', green, [0, 0], '6 passed, 0 failed', 0],
  ['skipped tests', { ...green, numPendingTests: 2 }, [0, 0], '6 passed, 0 failed', 0],
  ['a failed check', green, [0, 1], '5 passed, 1 failed', 1],
  ['a second check that failed', green, [0, 0, 2], '6 passed, 1 failed', 1],
  ['two green checks', green, [0, 0, 0], '7 passed, 0 failed', 0],
  ['a failed test', { ...green, numFailedTests: 2 }, [1, 0], '6 passed, 2 failed', 1],
  ['a file that cannot be loaded', { ...green, testResults: [loaded, unloaded] }, [1, 0], '6 passed, 1 failed', 1],
  ['a crash after green tests', green, [1, 0], '6 passed, 1 failed', 1],
  ['no report', undefined, [1, 0], '1 passed, 1 failed', 1],
  ['no tests at all', { ...green, numPassedTests: 0, testResults: [] }, [0, 0], '1 passed, 1 failed', 1],
] as const)('%s: the last line counts it, and the exit code agrees', (_name, report, exitCodes, line, status) => {
  expect(count(report, exitCodes)).toEqual({ line, status });
});
