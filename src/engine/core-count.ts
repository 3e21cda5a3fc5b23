// How many cores this process may use: those of its cgroup, which in a container are fewer than the host's.

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

export type ReadText = (path: string) => string | undefined;

/** @returns at least 1 */
export function countCores(readText: ReadText = readFile, hostCores: number = availableParallelism()): number {
  const quota = readQuotaV2(readText) ?? readQuotaV1(readText) ?? hostCores;
  return Math.max(1, Math.min(hostCores, Math.floor(quota)));
}

/** @returns how many workers there are where nobody says it, at least 1 */
export function defaultWorkers(threadsPerWorker: number): number {
  return Math.max(1, Math.floor(countCores() / threadsPerWorker));
}

/** `max 100000` or `150000 100000`: microseconds of CPU per period. */
function readQuotaV2(readText: ReadText): number | undefined {
  const [quota, period] = (readText('/sys/fs/cgroup/cpu.max') ?? '').trim().split(' ');
  return toCores(quota, period);
}

function readQuotaV1(readText: ReadText): number | undefined {
  const folder = '/sys/fs/cgroup/cpu';
  return toCores(readText(`${folder}/cpu.cfs_quota_us`), readText(`${folder}/cpu.cfs_period_us`));
}

function toCores(quota: string | undefined, period: string | undefined): number | undefined {
  const cores = Number.parseInt(quota ?? '', 10) / Number.parseInt(period ?? '', 10);
  return Number.isFinite(cores) && cores > 0 ? cores : undefined;
}

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
