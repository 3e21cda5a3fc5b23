// What a child process has run counts as what the tests have run themselves.

import { expect, it } from 'vitest';
import { addCounts, type FileCoverage, figuresOf } from './coverage-report.ts';

const SOURCE = 'const a = 1;\nif (a) b();\n';
const at = (line: number, column: number) => ({ start: { line, column } });

function file(): FileCoverage {
  return {
    path: 'src/http/x.ts',
    statementMap: { 0: at(1, 0), 1: at(2, 0), 2: at(2, 7) },
    fnMap: { 0: { loc: at(2, 7) } },
    branchMap: { 0: { locations: [at(2, 7), { start: {} }] } },
    s: { 0: 0, 1: 0, 2: 0 },
    f: { 0: 0 },
    b: { 0: [0, 0] },
  };
}

it('adds the count of each part at its line and column', () => {
  const changed = file();
  addCounts(changed, SOURCE, (offset) => (offset < SOURCE.indexOf('b()') ? 2 : undefined));
  expect([changed.s, changed.f, changed.b]).toEqual([{ 0: 2, 1: 2, 2: 0 }, { 0: 0 }, { 0: [0, 0] }]);
  addCounts(changed, SOURCE, () => 1);
  expect([changed.s, changed.f, changed.b]).toEqual([{ 0: 3, 1: 3, 2: 1 }, { 0: 1 }, { 0: [1, 0] }]);
});

it('sums by room, and over all', () => {
  const used = { ...file(), s: { 0: 1, 1: 0, 2: 4 } };
  const figures = figuresOf(new Map(Object.entries({ 'src/http/x.ts': used, 'src/main.ts': file() })));
  expect(figures.get('src/http')?.statements).toEqual({ covered: 2, total: 3 });
  expect(figures.get('src')?.statements).toEqual({ covered: 0, total: 3 });
  expect(figures.get('all')).toEqual({
    statements: { covered: 2, total: 6 },
    branches: { covered: 0, total: 4 },
    functions: { covered: 0, total: 2 },
  });
});
