// What `npm pack` makes of the checkout, short of packing it: the inference library goes along, and nothing of it runs at
// an install. test/long/package.test.ts installs the real thing.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { withoutInstallScript } from '../../packaging/runtime-manifest.mjs';

const ROOT = join(import.meta.dirname, '../..');
const INSTALL_EVENTS = ['preinstall', 'install', 'postinstall'];

const manifestSchema = z.looseObject({
  version: z.string().optional(),
  scripts: z.record(z.string(), z.string()).optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  bundleDependencies: z.array(z.string()).optional(),
});

function readManifest(folder: string) {
  return manifestSchema.parse(JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')));
}

describe('the packed inference library', () => {
  const original = readManifest('node_modules/onnxruntime-node');
  const packed = manifestSchema.parse(withoutInstallScript(original));

  it('has no script left, and needs nothing but its own other half', () => {
    expect(original.scripts).toHaveProperty('postinstall');
    expect(packed.scripts).toBeUndefined();
    expect(packed.dependencies).toEqual({ 'onnxruntime-common': original.version });
    expect(packed).toMatchObject({ name: 'onnxruntime-node', version: original.version, main: 'dist/index.js' });
  });

  it('is the only package of ours with a script, so that it is the only one to go along', () => {
    const own = readManifest('.');
    const withScripts = Object.keys(own.dependencies ?? {}).filter((name) => {
      const { scripts = {} } = readManifest(join('node_modules', name));
      return INSTALL_EVENTS.some((event) => event in scripts);
    });
    expect(withScripts).toEqual(own.bundleDependencies);
  });
});
