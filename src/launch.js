#!/usr/bin/env node
// The entry of every command: makes sure that Node is new enough, then hands over to main. Plain JavaScript that any
// Node reads; knows nothing of the program.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED_MAJOR = 22;
const NEEDED_MINOR = 18;

function isNewEnough() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > NEEDED_MAJOR || (major === NEEDED_MAJOR && minor >= NEEDED_MINOR);
}

/** The Node that comes with the project on Linux. */
function findBundledNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/package.json`);
    const node = join(dirname(manifest), 'bin', 'node');
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

function runBundled(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  // A terminal sends Ctrl-C to the child as well; a second one would end it without waiting for its requests.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  child.on('exit', (code, signal) => {
    process.exitCode = signal ? 1 : (code ?? 1);
  });
}

/**
 * Read when a process starts and at no other time. By default glibc keeps what large, short-lived tensors leave behind,
 * and every thread compiles the program anew: both cost resident memory. Scores of a long document are megabytes for each
 * layer: mapped afresh page by page, they took half the time of an answer. Hence a threshold above most of them, and huge
 * pages for the rest.
 */
const ENVIRONMENT = {
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '8388608',
  MALLOC_TRIM_THRESHOLD_: '4194304',
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/umpire', import.meta.url)),
};
/** The main thread's objects live briefly; a small nursery keeps its memory down. In MiB. */
const NURSERY = '--max-semi-space-size=4';

/** Becomes the same process again, once, with the settings above; those of the operator win. */
function settle() {
  const { execPath, execArgv, argv, env } = process;
  const isSettled = env.MALLOC_ARENA_MAX !== undefined && env.NODE_COMPILE_CACHE !== undefined;
  if (process.platform !== 'linux' || isSettled || typeof process.execve !== 'function') return;
  process.execve(execPath, [execPath, NURSERY, ...execArgv, ...argv.slice(1)], { ...ENVIRONMENT, ...env });
}

if (isNewEnough()) {
  settle();
  // The ending of this file's neighbour: .ts in a checkout, .js where the project is compiled.
  const main = existsSync(new URL('main.ts', import.meta.url)) ? './main.ts' : './main.js';
  await import(main);
} else {
  const bundled = findBundledNode();
  if (bundled) runBundled(bundled);
  else {
    console.error(
      `umpire needs Node ${NEEDED_MAJOR}.${NEEDED_MINOR} or newer and this is ${process.versions.node}: install a newer one from https://nodejs.org and start again.`,
    );
    process.exitCode = 1;
  }
}
