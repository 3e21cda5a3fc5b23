// What browsers get is whole, bounded and nothing else: every import leads to a file that is served, and nothing is served
// that no page leads to.

import { parse } from 'es-module-lexer';
import { describe, expect, it } from 'vitest';
import { readWebFiles } from '../../../src/http/web/web-files.ts';

const PLAYGROUND_BYTES = 150_000;

const { pages, assets } = await readWebFiles();
const textOf = (address: string): string =>
  (pages.get(address) ?? assets.get(address))?.bodies.identity.toString() ?? '';

/** The page and everything that it leads to. */
function closureOf(address: string, found = new Set<string>()): Set<string> {
  found.add(address);
  for (const [next] of textOf(address).matchAll(/\/assets\/[^"'\s)]+/g)) if (!found.has(next)) closureOf(next, found);
  return found;
}

describe('the pages', () => {
  it('lead to files that are served, all of them and no other', () => {
    const led = new Set([...pages.keys()].flatMap((address) => [...closureOf(address)]));
    expect([...led].filter((address) => !pages.has(address)).sort()).toEqual([...assets.keys()].sort());
  });

  it('name every module of theirs at once, so that a browser need not find them one by one', () => {
    for (const address of pages.keys()) {
      const modules = [...closureOf(address)].filter((each) => each.endsWith('.js'));
      const preloads = [...textOf(address).matchAll(/<link rel="modulepreload" href="([^"]+)">/g)].map(
        ([, href]) => href,
      );
      expect(preloads.sort()).toEqual(modules.sort());
    }
  });

  it('have no script or style of their own, which the policy would refuse', () => {
    for (const address of pages.keys()) {
      expect(textOf(address)).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]* src=)/);
    }
  });

  it.each(['br', 'gzip'] as const)('load the playground with at most 150 kB (%s)', (encoding) => {
    const loaded = [...closureOf('/')].map((address) => pages.get(address) ?? assets.get(address));
    const bytes = loaded.reduce((total, file) => total + (file?.bodies[encoding].length ?? 0), 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(PLAYGROUND_BYTES);
  });
});

describe('a module that is served', () => {
  const modules = [...assets.keys()].filter((address) => address.endsWith('.js'));

  it.each(modules)('%s imports addresses alone', (address) => {
    const [imports] = parse(textOf(address));
    expect(imports.flatMap(({ specifier }) => specifier ?? []).filter((each) => !assets.has(each))).toEqual([]);
  });

  it('has a library in it as well as our own', () => {
    expect(modules.some((address) => address.includes('/preact/'))).toBe(true);
    expect(modules.some((address) => address.endsWith('/playground/main.js'))).toBe(true);
  });
});
