// What `umpire doctor` finds about the machine: Node, the processor, memory and disk.

import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import type { Finding } from '../../cli/program.ts';
import type { Config } from '../../config/schema.ts';

import { note, ok, warning } from './findings.ts';

const BYTES_PER_MIB = 2 ** 20;
/** The caches of graphs take some 100 MiB; the rest is for the ledger to grow. */
const LITTLE_SPACE_BYTES = 1024 * BYTES_PER_MIB;
/** Node, the graphs of the shipped models and what a run needs, beside the caches of the configuration. */
const BASE_BYTES = 512 * BYTES_PER_MIB;

export function lookAtNode(): Finding {
  return ok('node', `${process.versions.node} on ${process.platform} ${process.arch}`);
}

/** @param features as the kernel names them; undefined: unknown here */
export function lookAtProcessor(features: ReadonlySet<string> | undefined = readFeatures()): Finding {
  const model = cpus()[0]?.model.trim() || 'unknown processor';
  const cores = availableParallelism();
  const head = `${model}, ${cores} ${cores === 1 ? 'core' : 'cores'} for this process`;
  if (features === undefined) return note('cpu', `${head}; what it can compute is not told on this system`);
  const has = (...names: string[]): boolean => names.some((name) => features.has(name));
  if (process.arch === 'arm64') {
    return has('asimddp')
      ? ok('cpu', `${head}; dot products of bytes: int8 models run fast`)
      : note('cpu', `${head}; no dot products of bytes: int8 models gain little over fp32`);
  }
  if (has('avx512_vnni')) return ok('cpu', `${head}; AVX-512 with VNNI: int8 models run fast`);
  if (has('avx_vnni'))
    return ok('cpu', `${head}; AVX2 with VNNI: int8 models run fast, fp32 ones slower than on AVX-512`);
  if (has('avx512f')) return note('cpu', `${head}; AVX-512 without VNNI: int8 models gain little over fp32`);
  if (has('avx2')) return note('cpu', `${head}; AVX2, no AVX-512 and no VNNI: slower than the figures of the README`);
  return warning(
    'cpu',
    `${head}; no AVX2: models run many times slower`,
    'take a machine or a virtual CPU type with AVX2',
  );
}

function readFeatures(): ReadonlySet<string> | undefined {
  try {
    const [, words] = /^(?:flags|Features)\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8')) ?? [];
    return words === undefined ? undefined : new Set(words.trim().split(/\s+/));
  } catch {
    return undefined;
  }
}

/** @param availableBytes of the machine or of its control group, whichever is less */
export function lookAtMemory(
  { engine, answers }: Config,
  availableBytes = Math.min(process.availableMemory(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
): Finding {
  const workers = engine.workers ?? availableParallelism();
  const wantedBytes = BASE_BYTES + workers * engine.stateCacheBytes + answers.cacheBytes;
  const told = `${toMib(availableBytes)} available; a server with these settings may use ${toMib(wantedBytes)}`;
  if (availableBytes >= wantedBytes) return ok('memory', told);
  return warning(
    'memory',
    told,
    'take fewer workers (engine.workers) or smaller caches (engine.stateCacheBytes), or give it more',
  );
}

export function lookAtDisk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const told = `${toMib(bavail * bsize)} free`;
  if (bavail * bsize >= LITTLE_SPACE_BYTES) return ok('disk', told);
  return warning('disk', `${told}: the ledger grows, and a full disk stops billed work`, 'make room, or move dataDir');
}

function toMib(bytes: number): string {
  return `${Math.floor(bytes / BYTES_PER_MIB)} MiB`;
}
