// Which file is the addon of these sources on this machine, and what a build of it is made of. Builds nothing.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folderOf = (name) => fileURLToPath(new URL(`${name}/`, import.meta.url));

export const sourceFolder = folderOf('src');
export const buildFolder = folderOf('build');

/** The same on every host of a kind: what is built on one may be copied to another. */
export const compileFlags = ['-std=c++17', '-O3', '-DNDEBUG', '-fPIC', '-fvisibility=hidden', '-Wall', '-Wextra'];

/** Of all sources and flags: an addon that was built from others is not used. */
export function hashSources() {
  const hash = createHash('sha256').update(compileFlags.join(' '));
  for (const name of readdirSync(sourceFolder).sort()) {
    hash.update(`\0${name}\0`).update(readFileSync(`${sourceFolder}${name}`));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Where the addon of these sources lies once it is built. */
export function addonFile(sourceHash = hashSources()) {
  return `${buildFolder}umpire-tokenizer-${process.platform}-${process.arch}-${sourceHash}.node`;
}
