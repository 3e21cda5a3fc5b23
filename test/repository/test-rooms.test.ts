// A test is found without searching: beside its file, at the same path under test/, or in a folder that says what it
// proves. test/README.md is the map, and is held to the folders that there are.

import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const ENDINGS = ['ts', 'js', 'mjs'];

const [, proofs = '', tools = ''] = readFileSync(join(ROOT, 'test/README.md'), 'utf8').split(/^\|---\|---\|$/m);
const foldersOf = (table: string): string[] => [...table.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name = '']) => name);
const PROOFS = foldersOf(proofs);
const TOOLS = foldersOf(tools);

const filesOf = (pattern: string): string[] =>
  // What `npm run check:api` has installed is not ours.
  globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules'] })
    .map((file) => file.replaceAll('\\', '/'))
    .sort();
const tests = filesOf('{src,test,bench,native,packaging}/**/*.test.{ts,mjs,js}');

/** Without what says which side of the file a test is about: `stores.postgres.test.ts` is of `stores`. */
function subjectsOf(test: string): string[] {
  const [name = ''] = basename(test).split('.');
  const folder = dirname(test);
  const mirrored = folder.replace(/^test(\/|$)/, '');
  return [folder, `src/${mirrored}`, mirrored].map((place) => `${place}/${name}`);
}

function hasSubject(test: string, has = (file: string) => existsSync(join(ROOT, file))): boolean {
  return subjectsOf(test).some((file) => ENDINGS.some((ending) => has(`${file}.${ending}`)));
}

const isProof = (test: string): boolean => PROOFS.some((folder) => test.startsWith(`test/${folder}/`));

describe('every test', () => {
  it('lies beside its file, at its path under test/, or in a folder that test/README.md names', () => {
    expect(tests.filter((test) => !isProof(test) && !hasSubject(test))).toEqual([]);
  });

  it('is found by its ending, so that it runs', () => {
    const odd = filesOf('{src,test,bench}/**/*{.,-}{spec,tests}.ts').concat(filesOf('{bench,native}/**/*.test.*'));
    expect(odd).toEqual([]);
  });

  it.each([
    ['src/http/utf8-text.test.ts', 'src/http/utf8-text.ts'],
    ['src/services/keys.administrators.test.ts', 'src/services/keys.ts'],
    ['test/http/routes/usage.test.ts', 'src/http/routes/usage.ts'],
    ['test/bench/report.test.ts', 'bench/report.ts'],
    ['test/packaging/release-notes.test.ts', 'packaging/release-notes.mjs'],
    ['test/money/books.test.ts', 'test/money/books.ts'],
  ])('%s belongs to %s', (test, subject) => {
    expect(hasSubject(test, (file) => file === subject)).toBe(true);
  });

  it('needs a subject: one of nothing is told', () => {
    expect(hasSubject('test/http/usage.test.ts', (file) => file === 'src/http/routes/usage.ts')).toBe(false);
  });
});

describe('test/README.md', () => {
  const folders = readdirSync(join(ROOT, 'test'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  it('says what each folder is for that does not mirror another', () => {
    const mirrors = (folder: string): boolean =>
      [`src/${folder}`, folder].some((place) => existsSync(join(ROOT, place)));
    expect(folders.filter((folder) => ![...PROOFS, ...TOOLS].includes(folder) && !mirrors(folder))).toEqual([]);
  });

  it('names no folder that is gone, or without tests where it promises some', () => {
    const withTests = PROOFS.filter((folder) => tests.some((test) => test.startsWith(`test/${folder}/`)));
    expect(withTests).toEqual(PROOFS);
    expect(TOOLS.filter((folder) => !folders.includes(folder))).toEqual([]);
  });

  it('calls no folder a proof whose name is one of src/', () => {
    expect(PROOFS.filter((folder) => existsSync(join(ROOT, 'src', folder)))).toEqual([]);
  });
});
