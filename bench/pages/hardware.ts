// What the figures were measured on: machine, versions, commit, settings. Reads, never guesses: what cannot be read is null.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, hostname, loadavg, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..', '..');
const PACKAGES = ['onnxruntime-node', '@huggingface/tokenizers', 'fastify', 'piscina', 'undici'];

export interface Machine {
  readonly hostname: string;
  readonly system: string;
  readonly cpu: string | null;
  /** Cores the operating system lets this process use. */
  readonly cores: number;
  /** `cpu.max` of the control group: microseconds of CPU per period, or `max`. */
  readonly cgroupCpuMax: string | null;
  readonly memoryBytes: number;
  /** Processes that wanted a core in the last minute, before the bench: above 0.5, others disturbed it. */
  readonly loadBefore: number;
}

export interface Versions {
  readonly umpire: string;
  readonly commit: string | null;
  /** The working tree differs from the commit. */
  readonly isDirty: boolean | null;
  readonly node: string;
  readonly packages: Readonly<Record<string, string>>;
}

export function describeMachine(): Machine {
  return {
    hostname: hostname(),
    system: `${process.platform} ${release()} ${process.arch}`,
    cpu: cpus()[0]?.model ?? null,
    cores: availableParallelism(),
    cgroupCpuMax: readText('/sys/fs/cgroup/cpu.max'),
    memoryBytes: totalmem(),
    loadBefore: loadavg()[0] ?? Number.NaN,
  };
}

export function describeVersions(): Versions {
  const changes = runGit(['status', '--porcelain', '--untracked-files=no']);
  return {
    umpire: readVersion(join(ROOT, 'package.json')),
    commit: runGit(['rev-parse', 'HEAD']),
    isDirty: changes === null ? null : changes !== '',
    node: process.version,
    packages: Object.fromEntries(
      PACKAGES.map((name) => [name, readVersion(join(ROOT, 'node_modules', name, 'package.json'))]),
    ),
  };
}

/** `UMPIRE_…` variables that the server inherits, the key left out. */
export function listSettings(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => name.startsWith('UMPIRE_') && !name.includes('KEY'));
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}

function readVersion(manifestPath: string): string {
  const manifest: unknown = JSON.parse(readFileSync(manifestPath, 'utf8'));
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version);
  throw new Error(`${manifestPath} has no version.`);
}

function runGit(args: readonly string[]): string | null {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}
