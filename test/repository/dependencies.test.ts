// Every package is wanted, pinned and installed as pinned. npm on an older Node picks older majors without a word.

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');
const versions = z.record(z.string(), z.string());
const manifest = z
  .object({ dependencies: versions, devDependencies: versions, optionalDependencies: versions })
  .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
/** Rows of the table of packages: name → reason. */
const [, chapter = ''] = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').split('\n## Dependencies');
const reasons = [...chapter.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, name = '', reason = '']) => ({
  name,
  reason,
}));

const pins = Object.entries({
  ...manifest.dependencies,
  ...manifest.devDependencies,
  ...manifest.optionalDependencies,
});
/** Optional packages are for one platform each; npm installs the fitting one. */
const isForThisPlatform = (name: string): boolean =>
  manifest.optionalDependencies[name] === undefined || name === `node-${process.platform}-${process.arch}`;

/** `npm:ai@7.0.103` is the package `ai` in that version, installed under another name. */
const versionOf = (pin: string): string => pin.replace(/^npm:.+@/, '');

describe.each(pins)('%s', (name, pin) => {
  const version = versionOf(pin);

  it('is pinned to one version', () => {
    expect(version).toMatch(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/);
  });

  it('has its reason in CONTRIBUTING.md', () => {
    expect(reasons.filter((row) => row.name === name)).toEqual([{ name, reason: expect.stringMatching(/^.{15,}/) }]);
  });

  it.runIf(isForThisPlatform(name))('is installed in that version', () => {
    const installed: unknown = JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8'));
    expect(installed).toMatchObject({ version });
  });
});

describe('CONTRIBUTING.md', () => {
  it('gives no reason for a package that is gone', () => {
    expect(reasons.map((row) => row.name).sort()).toEqual(pins.map(([name]) => name).sort());
  });
});

describe('the Node that runs this', () => {
  // Whoever wants the tests on another Node takes it out of the path.
  it.runIf(existsSync(join(ROOT, 'node_modules', '.bin', 'node')))('is the one that comes with the project', () => {
    expect(process.version).toBe(`v${manifest.optionalDependencies[`node-${process.platform}-${process.arch}`]}`);
  });
});
