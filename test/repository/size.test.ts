// A clone stays quick, and the checkout fits where accelerators are lent: weights are the only large files.

import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
/** 64 MiB is what may travel to a lent accelerator, the caller's own files included. */
const MOST_BYTES = 62_000_000;
/** Without the history there is nothing to ask: a packed copy, for one. */
const isClone = existsSync(join(ROOT, '.git'));

it.skipIf(!isClone)('tracked files stay below 62 MB in all', () => {
  const names = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean);
  expect(names).toContain('package.json');
  const paths = names.map((name) => join(ROOT, name)).filter((path) => existsSync(path));
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  expect(bytes).toBeLessThan(MOST_BYTES);
});
