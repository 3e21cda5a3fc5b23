// The settings of the engine hold for every command that loads a model or counts tokens, as they do for the server: shown
// with the tokenizer, because a process tells which native libraries it has loaded, in whatever thread.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAddon, loadAddon } from '../../src/runtime/native.ts';
import { tinyDecision } from '../workers/tiny-engine.ts';
import { runUmpire } from './run-umpire.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-tokenizer-setting-'));
const model = join(folder, 'models', 'tiny-decision');
const libraries = join(folder, 'libraries.txt');
const listLibraries = join(folder, 'list-libraries.mjs');

const COMMANDS: readonly (readonly [name: string, ...args: string[]])[] = [
  ['models verify', 'models', 'verify'],
  ['decide', 'decide', '--model', 'tiny-decision', '--text', 'the order is late', '--noul', 'late?'],
  ['eval', 'eval', 'rows.jsonl', '--model', 'tiny-decision'],
  ['calibrate', 'calibrate', 'rows.jsonl', '--model', 'tiny-decision', '--dry-run'],
];

beforeAll(() => {
  cpSync(tinyDecision, model, { recursive: true });
  const questions = { late: { type: 'noul', instructions: 'late?', gold: true } };
  writeFileSync(join(folder, 'rows.jsonl'), `${JSON.stringify({ state: 'the order is late', questions })}\n`);
  writeFileSync(
    listLibraries,
    `import { writeFileSync } from 'node:fs';
process.on('exit', () => {
  const { sharedObjects } = process.report.getReport();
  writeFileSync(${JSON.stringify(libraries)}, sharedObjects.join('\\n'));
});`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/** @returns whether the native tokenizer was loaded */
async function loadsAddon(args: readonly string[], tokenizer: string): Promise<boolean> {
  const env = {
    UMPIRE_MODELS_DIR: join(folder, 'models'),
    UMPIRE_ENGINE_TOKENIZER: tokenizer,
    UMPIRE_ENGINE_WORKERS: '1',
    NODE_OPTIONS: `--import ${pathToFileURL(listLibraries)}`,
  };
  rmSync(libraries, { force: true });
  const { out, error } = await runUmpire(args, { cwd: folder, env });
  expect(`${out}${error}`).not.toBe('');
  return readFileSync(libraries, 'utf8').includes('umpire-tokenizer');
}

describe.skipIf(!isAddon(await loadAddon()))('the setting of the tokenizer holds for', () => {
  it.each(COMMANDS)('%s', async (_name, ...args) => {
    expect(await loadsAddon(args, 'javascript')).toBe(false);
    expect(await loadsAddon(args, 'auto')).toBe(true);
  });
});
