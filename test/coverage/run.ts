// `npm run coverage [-- <what vitest takes>]`: which parts of src/ the tests run, those that run in child processes and
// threads included. `--add` keeps what earlier runs have counted. A process that is killed leaves no count.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { readChildCounts } from './child-counts.ts';
import { addCounts, type Figures, type FileCoverage, figuresOf, fileCoverage, type Share } from './coverage-report.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'coverage');
const CHILDREN = join(FOLDER, 'children');
const COUNTS = join(FOLDER, 'counts.json');

const given = process.argv.slice(2);
const isAdded = given.includes('--add');
const files = new Map<string, FileCoverage>();

function runTests(): number {
  if (!isAdded) rmSync(FOLDER, { recursive: true, force: true });
  rmSync(CHILDREN, { recursive: true, force: true });
  mkdirSync(CHILDREN, { recursive: true });
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const options = [
    'run',
    '--config',
    'vitest.coverage.config.ts',
    '--coverage.reportsDirectory',
    join(FOLDER, 'tests'),
  ];
  const args = [vitest, ...options, ...given.filter((word) => word !== '--add')];
  const env = { ...process.env, CHILD_COVERAGE_DIR: CHILDREN };
  return spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env }).status ?? 1;
}

/** Counts of one run on top of those that are there. */
function take(path: string): void {
  if (!existsSync(path)) return;
  for (const file of Object.values(z.record(z.string(), fileCoverage).parse(JSON.parse(readFileSync(path, 'utf8'))))) {
    const name = relative(ROOT, resolve(ROOT, file.path)).replaceAll('\\', '/');
    const known = files.get(name);
    files.set(name, known === undefined ? { ...file, path: name } : merge(known, file));
  }
}

function merge(one: FileCoverage, other: FileCoverage): FileCoverage {
  const sum = (a: Record<string, number>, b: Record<string, number>): Record<string, number> =>
    Object.fromEntries(Object.entries(a).map(([id, count]) => [id, count + (b[id] ?? 0)]));
  const branches = Object.entries(one.b).map(([id, counts]) => [
    id,
    counts.map((count, index) => count + (other.b[id]?.[index] ?? 0)),
  ]);
  return { ...one, s: sum(one.s, other.s), f: sum(one.f, other.f), b: Object.fromEntries(branches) };
}

function takeChildren(): void {
  for (const name of readdirSync(CHILDREN)) {
    for (const [path, countAt] of readChildCounts(join(CHILDREN, name), ROOT)) {
      const file = files.get(path);
      if (file !== undefined) addCounts(file, readFileSync(join(ROOT, path), 'utf8'), countAt);
    }
  }
  rmSync(CHILDREN, { recursive: true });
}

const percent = ({ covered, total }: Share): string =>
  `${((100 * covered) / Math.max(1, total)).toFixed(1).padStart(6)} % of ${String(total).padStart(5)}`;

function print(figures: ReadonlyMap<string, Figures>): void {
  process.stdout.write(`${''.padEnd(20)}${'statements'.padEnd(20)}${'branches'.padEnd(20)}functions\n`);
  for (const [name, { statements, branches, functions }] of figures)
    process.stdout.write(`${name.padEnd(18)}${[statements, branches, functions].map(percent).join('  ')}\n`);
}

const status = runTests();
if (isAdded) take(COUNTS);
take(join(FOLDER, 'tests/coverage-final.json'));
takeChildren();
writeFileSync(COUNTS, JSON.stringify(Object.fromEntries(files)));
const figures = figuresOf(files);
figures.delete('all');
print(new Map([...figures, ...[...figuresOf(files)].filter(([name]) => name === 'all')]));
process.exitCode = status;
