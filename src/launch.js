#!/usr/bin/env node
// The entry of every command: makes sure that Node is new enough, then hands over to main. Plain JavaScript that any
// Node reads; knows nothing of the program.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const NEEDED_MAJOR = 22;
const NEEDED_MINOR = 18;
const PARENT_CHECK_MS = 250;
const PASSED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'];

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

/**
 * After 1,000 calls of an import of WebAssembly V8 takes a quicker wrapper for it and frees the first one. At times that ends
 * the process: `Check failed: jit_page.has_value()` (nodejs/node#64500 is of the kind). The parser of Node's HTTP client is
 * WebAssembly; it keeps its first wrappers.
 */
const KEEP_WRAPPERS = '--wasm-wrapper-tiering-budget=2147483647';

/** The pipe between an older Node and the one it started: its other end closes however the older one ends. */
const PIPE_VARIABLE = 'UMPIRE_LAUNCHER_PIPE';
const PIPE_FD = 3;

/** An older Node cannot become another program: it stays, and both are to look like one process. */
function runBundled(node) {
  const env = { ...ENVIRONMENT, ...process.env, [PIPE_VARIABLE]: String(PIPE_FD) };
  const stdio = ['inherit', 'inherit', 'inherit', 'pipe'];
  const child = spawn(node, [NURSERY, ...process.argv.slice(1)], { stdio, env });
  // A terminal gives Ctrl-C to the child as well; the server takes a signal that comes twice as one.
  const passOn = (signal) => child.kill(signal);
  for (const signal of PASSED_SIGNALS) process.on(signal, passOn);
  child.on('exit', (code, signal) => {
    for (const passed of PASSED_SIGNALS) process.off(passed, passOn);
    if (signal === null) process.exitCode = code ?? 1;
    else process.kill(process.pid, signal);
  });
}

/** `kill -9` of the older Node must not leave a server behind that holds port and store and that nobody looks after. */
function endWithLauncher() {
  if (process.env[PIPE_VARIABLE] !== String(PIPE_FD)) return;
  delete process.env[PIPE_VARIABLE];
  const end = () => process.kill(process.pid, 'SIGKILL');
  new Socket({ fd: PIPE_FD }).on('error', end).on('end', end).resume().unref();
}

/**
 * npx keeps a shell between itself and us. Told to end, it ends the shell, which passes nothing on: we would stay behind,
 * with port and store, and nobody would know.
 */
function stopWithShellOfNpx() {
  const { ppid } = process;
  if (process.env.npm_command !== 'exec' || !isShellOfNpx(ppid)) return;
  const watch = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_MS);
  watch.unref();
}

function isShellOfNpx(pid) {
  try {
    const [shell, option, script = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return /^(.*\/)?sh$/.test(shell) && option === '-c' && script.includes('umpire');
  } catch {
    return false;
  }
}

/** Becomes the same process again, once, with the settings above; those of the operator win. */
function settle() {
  const { execPath, execArgv, argv, env } = process;
  const isSettled = env.MALLOC_ARENA_MAX !== undefined && env.NODE_COMPILE_CACHE !== undefined;
  if (process.platform !== 'linux' || isSettled || typeof process.execve !== 'function') return;
  process.execve(execPath, [execPath, NURSERY, ...execArgv, ...argv.slice(1)], { ...ENVIRONMENT, ...env });
}

/** Node calls its SQLite and its stripping of types experimental. Whoever runs us can do nothing with that. */
function silenceExperiments() {
  const { emitWarning } = process;
  process.emitWarning = (warning, ...rest) => {
    const isOurs = rest[0] === 'ExperimentalWarning' && /^(SQLite|stripTypeScriptTypes) /.test(String(warning));
    if (!isOurs) emitWarning.call(process, warning, ...rest);
  };
}

if (isNewEnough()) {
  endWithLauncher();
  settle();
  silenceExperiments();
  setFlagsFromString(KEEP_WRAPPERS);
  stopWithShellOfNpx();
  // The ending of this file's neighbour: .ts in a checkout, .js where the project is compiled.
  const main = existsSync(new URL('main.ts', import.meta.url)) ? './main.ts' : './main.js';
  await import(main);
} else {
  const bundled = findBundledNode();
  if (bundled) {
    stopWithShellOfNpx();
    runBundled(bundled);
  } else {
    console.error(
      `umpire needs Node ${NEEDED_MAJOR}.${NEEDED_MINOR} or newer and this is ${process.versions.node}: install a newer one from https://nodejs.org and start again.`,
    );
    process.exitCode = 1;
  }
}
