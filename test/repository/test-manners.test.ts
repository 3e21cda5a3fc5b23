// No test depends on the machine it runs on: what it may not do and what shows by its form. How to do without is in
// test/README.md.

import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findFaults } from './loops-and-clocks.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** File → what it may do, and why. */
const ALLOWED: Readonly<Record<string, readonly [rule: string, why: string]>> = {
  'test/waiting/until.ts': ['unbounded poll', 'it is the one that is bounded, by its clock'],
  'test/fuzz/faulty-upstream.ts': ['pause', 'an upstream that is slow on purpose'],
  'test/fuzz/fuzz-run.ts': ['pause', 'the fuzzer runs for as long as it is told'],
  'test/workers/run-scenario.ts': ['environment', 'handed on, whatever it is'],
  'test/postgres/free-port.ts': ['port before it is bound', 'for the Python servers of the benchmark'],
};

const files = globSync(['src/**/*.test.ts', 'test/**/*.ts'], { cwd: ROOT })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file !== 'test/repository/test-manners.test.ts');
const faultsOf = (file: string): string[] =>
  findFaults(readFileSync(join(ROOT, file), 'utf8')).map(({ line, rule }) => `${file}:${line}: ${rule}`);

describe('the code of all tests', () => {
  it('waits for ever nowhere, times nothing, pauses for nobody and looks up no port', () => {
    const faults = files.flatMap((file) =>
      faultsOf(file).filter((fault) => !fault.endsWith(`: ${ALLOWED[file]?.[0]}`)),
    );
    expect(faults).toEqual([]);
  });

  it('needs every exception there is', () => {
    const needless = Object.entries(ALLOWED).filter(
      ([file, [rule]]) => !files.includes(file) || !faultsOf(file).some((fault) => fault.endsWith(`: ${rule}`)),
    );
    expect(needless).toEqual([]);
  });
});

describe('a fault', () => {
  it.each([
    ['unbounded poll', 'while ((await open()).length > 0);'],
    ['unbounded poll', 'do await ask(); while (!(await isQuiet()));'],
    ['unbounded poll', 'for (;;) { if (await isSo()) return; }'],
    ['unbounded poll', 'while (true) { await once(child, "line"); }'],
    ['unbounded poll', 'while (!isSo()) await new Promise((resolve) => setImmediate(resolve));'],
    ['real clock', 'expect(performance.now() - startMs).toBeLessThan(1000);'],
    ['real clock', 'expect(Date.now()).toBeLessThan(endMs);'],
    ['pause', 'await new Promise((resolve) => setTimeout(resolve, 700));'],
    ['pause', 'await sleep(20);'],
    ['port before it is bound', 'const port = await findFreePort();'],
    ['environment', "const shell = process.env['SHELL'];"],
    ['environment', 'if (process.env.CI) skip();'],
  ] as const)('by %s is found in: %s', (rule, code) => {
    expect(findFaults(code).map((fault) => fault.rule)).toContain(rule);
  });

  it.each([
    'for (const one of all) await serve(one);',
    'for (let turn = 0; turn < 20; turn++) await nextTurn();',
    'while (!isOver) { statuses.push(await guess()); }',
    'for (;;) { if (done()) break; }',
    'while (queue.length > 0) { const ask = async () => await one(); start(ask); }',
    'expect(clock.nowMs()).toBe(20);',
    'const path = process.env["PATH"];',
  ])('is not seen in: %s', (code) => {
    expect(findFaults(code)).toEqual([]);
  });
});
