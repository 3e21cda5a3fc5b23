import { describe, expect, it } from 'vitest';
import { countCores } from './core-count.ts';

const files =
  (entries: Record<string, string>) =>
  (path: string): string | undefined =>
    entries[path];

describe('cores', () => {
  it('are those of a cgroup of version 2', () => {
    expect(countCores(files({ '/sys/fs/cgroup/cpu.max': '200000 100000\n' }), 64)).toBe(2);
    expect(countCores(files({ '/sys/fs/cgroup/cpu.max': 'max 100000\n' }), 64)).toBe(64);
  });

  it('are those of a cgroup of version 1', () => {
    const folder = '/sys/fs/cgroup/cpu';
    const quota = { [`${folder}/cpu.cfs_quota_us`]: '350000\n', [`${folder}/cpu.cfs_period_us`]: '100000\n' };
    expect(countCores(files(quota), 64)).toBe(3);
    expect(countCores(files({ ...quota, [`${folder}/cpu.cfs_quota_us`]: '-1\n' }), 64)).toBe(64);
  });

  it('are never less than one nor more than the host has', () => {
    expect(countCores(files({ '/sys/fs/cgroup/cpu.max': '50000 100000' }), 8)).toBe(1);
    expect(countCores(files({ '/sys/fs/cgroup/cpu.max': '900000 100000' }), 4)).toBe(4);
    expect(countCores(files({}), 4)).toBe(4);
  });
});
