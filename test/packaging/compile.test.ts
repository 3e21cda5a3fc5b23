// What `npm pack` ships of the pages is what a checkout serves, with nothing left to strip.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWebFiles } from '../../src/http/web/web-files.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** In there the compiled files find their packages. */
const CACHE = join(ROOT, 'node_modules', '.cache');
mkdirSync(CACHE, { recursive: true });
const target = mkdtempSync(join(CACHE, 'compiled-'));
afterAll(() => rmSync(target, { recursive: true }));

/** Asks the compiled code, in a process of its own: it is to run as it is. */
function addressesOfCompiled(): string[] {
  const files = pathToFileURL(join(target, 'http/web/web-files.js')).href;
  const script = `const { readWebFiles } = await import(${JSON.stringify(files)});
const { pages, assets } = await readWebFiles();
console.log(JSON.stringify([...pages.keys(), ...assets.keys()]));`;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }));
}

const withoutHash = (address: string): string => address.replace(/^\/assets\/[0-9a-f]+\//, '/assets/');

describe('the compiled package', () => {
  beforeAll(() => {
    execFileSync(process.execPath, [join(ROOT, 'packaging/compile.mjs'), target], { stdio: 'pipe' });
  });

  it('serves the pages and assets of a checkout', async () => {
    const { pages, assets } = await readWebFiles();
    expect(addressesOfCompiled().map(withoutHash).sort()).toEqual(
      [...pages.keys(), ...assets.keys()].map(withoutHash).sort(),
    );
  });

  it('has no TypeScript, no test and nothing that only the compiler needs', () => {
    const files = readdirSync(target, { recursive: true, encoding: 'utf8' });
    expect(files.length).toBeGreaterThan(300);
    expect(files.filter((file) => /\.ts$|\.test\.|tsconfig/.test(file))).toEqual([]);
  });
});
