// What the figures were measured on: machine, versions, commit, settings. Reads, never guesses: what cannot be read is null.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, hostname, loadavg, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';

/** Of the project. */
export const ROOT = resolve(import.meta.dirname, '..', '..');
const PACKAGES = ['onnxruntime-node', '@huggingface/tokenizers', 'fastify', 'piscina', 'undici'];
const packageSchema = z.object({ version: z.string() });

export type Machine = ReturnType<typeof describeMachine>;
export type Versions = ReturnType<typeof describeVersions>;

export function describeMachine() {
  return {
    hostname: hostname(),
    system: `${process.platform} ${release()} ${process.arch}`,
    cpu: cpus()[0]?.model ?? null,
    /** Cores the operating system lets this process use. */
    cores: availableParallelism(),
    /** `cpu.max` of the control group: microseconds of CPU per period, or `max`. */
    cgroupCpuMax: orNull(() => readFileSync('/sys/fs/cgroup/cpu.max', 'utf8').trim()),
    memoryBytes: totalmem(),
    /** Processes that wanted a core in the minute before the bench. */
    loadBefore: readLoad(),
  };
}

export function describeVersions() {
  const changes = runGit(['status', '--porcelain', '--untracked-files=no']);
  const packages = PACKAGES.map((name) => [name, readVersion('node_modules', name)] as const);
  return {
    umpire: readVersion(),
    commit: runGit(['rev-parse', 'HEAD']),
    /** The working tree differs from the commit. */
    isDirty: changes === null ? null : changes !== '',
    node: process.version,
    packages: Object.fromEntries(packages),
  };
}

/** `<version> <commit>[ with changes]` */
export function tellVersion({ umpire, commit, isDirty }: Versions): string {
  return `${umpire} ${commit?.slice(0, 12) ?? ''}${isDirty ? ' with changes' : ''}`;
}

/** Processes that wanted a core in the last minute. */
export function readLoad(): number {
  return loadavg()[0] ?? Number.NaN;
}

/** `UMPIRE_…` variables that the server inherits, the key left out. */
export function listSettings(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => name.startsWith('UMPIRE_') && !name.includes('KEY'));
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function readVersion(...folder: readonly string[]): string {
  return packageSchema.parse(JSON.parse(readFileSync(join(ROOT, ...folder, 'package.json'), 'utf8'))).version;
}

function runGit(args: readonly string[]): string | null {
  return orNull(() => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim());
}
