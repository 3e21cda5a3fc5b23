// The pages written by hand name only what exists: settings, files, npm scripts, error codes.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SETTINGS } from '../src/config/settings.ts';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDERS = ['.', 'bench', 'deploy', 'docs/guides', 'models'];
const pages = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && (entry.name.endsWith('.md') || folder === 'deploy'))
    .map((entry) => relative(ROOT, join(ROOT, folder, entry.name))),
);
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));

/** Variables of ours that are no settings. */
const OTHER_VARIABLES = ['UMPIRE_CONFIG', 'UMPIRE_URL', 'UMPIRE_DATA'];
const SETTING_SECTIONS = new Set(SETTINGS.filter(({ path }) => path.length > 1).map(({ path }) => path[0]));

function findAll(page: string, pattern: RegExp): string[] {
  return [...readFileSync(join(ROOT, page), 'utf8').matchAll(pattern)].map(([, found = '']) => found);
}

describe.each(pages)('%s', (page) => {
  it('names only variables that exist', () => {
    const known = [...OTHER_VARIABLES, ...SETTINGS.map(({ env }) => env)];
    expect(findAll(page, /\b(UMPIRE_[A-Z0-9_]*[A-Z0-9])\b(?!_|…)/g).filter((name) => !known.includes(name))).toEqual(
      [],
    );
  });

  it('names only settings that exist', () => {
    const known = SETTINGS.map(({ name }) => name);
    const named = findAll(page, /`([a-z]+\.[a-z][A-Za-z]+)`/g);
    const unknown = named.filter((name) => SETTING_SECTIONS.has(name.split('.')[0]) && !known.includes(name));
    expect(unknown).toEqual([]);
  });

  it('names only npm scripts that exist', () => {
    expect(findAll(page, /npm run (?:-s )?([a-z][a-z:-]*)/g).filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('links only to files that exist', () => {
    const links = findAll(page, /\]\(([^)#:]+)(?:#[^)]*)?\)/g);
    expect(links.filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  it('is short', () => {
    const lines = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(150);
  });

  it('names only files that exist', () => {
    const named = findAll(
      'ARCHITECTURE.md',
      /`((?:src|test|bench|models|http|services|runtime|domain|engine)\/[^`*]*)`/g,
    );
    const missing = named.filter((path) => !existsSync(join(ROOT, path)) && !existsSync(join(ROOT, 'src', path)));
    expect(missing).toEqual([]);
  });
});
