// Builds the addon with the host's C++ compiler: `node native/build.mjs`. With `--install`, as the install script of the
// package, it never fails: without a compiler it says so, and the server tokenises in JavaScript.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { addonFile, buildFolder, compileFlags, hashSources, sourceFolder } from './addon-file.mjs';

const LINK_FLAGS = {
  linux: ['-shared'],
  darwin: ['-bundle', '-undefined', 'dynamic_lookup'],
};
const COMPILE_TIMEOUT_MS = 300_000;

function findCompiler() {
  const names = [process.env.CXX, 'c++', 'g++', 'clang++'].filter(Boolean);
  const found = names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
  if (found === undefined) throw new Error('no C++ compiler (c++, g++ or clang++) is installed');
  return found;
}

async function findHeaders() {
  try {
    const { default: headers } = await import('node-api-headers');
    return headers.include_dir;
  } catch {
    throw new Error('the package node-api-headers is not installed');
  }
}

/** Compiles and links beside the place and then moves: a server that starts meanwhile sees all of it or nothing. */
async function compile(target, sourceHash) {
  const linkFlags = LINK_FLAGS[process.platform];
  if (linkFlags === undefined) throw new Error(`nobody has built it on ${process.platform} yet`);
  const [compiler, headers] = [findCompiler(), await findHeaders()];
  const sources = readdirSync(sourceFolder).filter((name) => name.endsWith('.cc'));
  const output = `${target}.${process.pid}`;
  const options = [...compileFlags, `-DUMPIRE_SOURCE_HASH="${sourceHash}"`, '-isystem', headers];
  const files = sources.sort().map((name) => join(sourceFolder, name));
  const { status, stderr, error } = spawnSync(compiler, [...options, ...files, '-o', output, ...linkFlags], {
    encoding: 'utf8',
    timeout: COMPILE_TIMEOUT_MS,
  });
  if (status !== 0) {
    rmSync(output, { force: true });
    throw new Error(`${compiler} failed: ${firstError(stderr) ?? error?.message ?? `exit ${status}`}`);
  }
  renameSync(output, target);
}

function firstError(text = '') {
  const lines = (text ?? '').split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => /error/i.test(line)) ?? lines[0];
}

/** @returns whether there was anything to do */
async function build() {
  const sourceHash = hashSources();
  const target = addonFile(sourceHash);
  if (existsSync(target)) return false;
  mkdirSync(buildFolder, { recursive: true });
  await compile(target, sourceHash);
  for (const name of readdirSync(buildFolder)) {
    const isOlder = name.endsWith('.node') && join(buildFolder, name) !== target;
    if (isOlder) rmSync(join(buildFolder, name), { force: true });
  }
  return true;
}

function say(text) {
  process.stdout.write(`umpire: ${text}\n`);
}

const isInstall = process.argv.includes('--install');
try {
  const isNew = await build();
  say(`the native tokenizer ${isNew ? 'was built' : 'is built'}`);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  say(`the native tokenizer was not built, so texts are tokenised in JavaScript: ${reason}`);
  process.exitCode = isInstall ? 0 : 1;
}
