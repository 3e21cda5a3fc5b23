// Commands that the pages tell a reader to type do what the page says.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runUmpire } from './run-umpire.ts';
import { ROOT } from './server-process.ts';

const FOLDER = join(ROOT, 'src', 'web');
const named = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => [...readFileSync(join(FOLDER, name), 'utf8').matchAll(/'umpire ([a-z][^']*)'/g)])
  .map(([, words = '']) => words);

it('there are such commands, and each of them works', async () => {
  expect(named).toContain('keys create --name playground');
  const dataDir = mkdtempSync(join(tmpdir(), 'umpire-named-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  for (const words of named) {
    const { code, error } = await runUmpire(words.split(' '), { cwd: dataDir, env: { UMPIRE_DATA_DIR: dataDir } });
    expect({ words, code, error }).toEqual({ words, code: 0, error: '' });
  }
});
