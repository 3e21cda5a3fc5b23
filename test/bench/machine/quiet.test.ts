// What others used of the processors is what all used, less what the bench and its servers used; a noisy machine is refused.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  isQuiet,
  NoisyMachine,
  parseProcessors,
  readOwnTicks,
  requireQuiet,
  shareOfOthers,
} from '../../../bench/machine/quiet.ts';

const STAT = 'cpu  100 20 30 1000 50 3 7 40 90 10\ncpu0 50 10 15 500 25 1 3 20 45 5\n';

describe('what others used', () => {
  it('is all that was busy, what a hypervisor took included and guests counted once', () => {
    expect(parseProcessors(STAT)).toEqual({ all: 1250, busy: 200 });
  });

  it('is less what we used', () => {
    const start = { all: 1000, busy: 100, ours: 50 };
    expect(shareOfOthers(start, { all: 2000, busy: 700, ours: 350 })).toBeCloseTo(0.3, 12);
    expect(shareOfOthers(start, { all: 2000, busy: 400, ours: 351 })).toBe(0);
  });

  it.runIf(process.platform === 'linux')('is not what our children used, nor theirs that have ended', async () => {
    const before = readOwnTicks();
    const burn = 'const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end);';
    const nested = `require('node:child_process').execFileSync(process.execPath, ['-e', ${JSON.stringify(burn)}])`;
    await once(spawn(process.execPath, ['-e', nested]), 'exit');
    // A tick is 10 ms.
    expect(readOwnTicks() - before).toBeGreaterThanOrEqual(29);
  });
});

describe('a machine', () => {
  it('is quiet up to the limit, and not where nobody knows', () => {
    expect([0, 0.05, 0.051, null].map(isQuiet)).toEqual([true, true, false, false]);
  });

  it('that is not quiet is refused with what was measured and what may be, unless it is allowed', () => {
    expect(() => requireQuiet(0.31, false)).toThrow(NoisyMachine);
    expect(() => requireQuiet(0.31, false)).toThrow(/31\.0 %.*5\.0 % at most.*--noisy/);
    expect(() => requireQuiet(null, false)).toThrow('cannot be read');
    expect(() => requireQuiet(0.31, true)).not.toThrow();
    expect(() => requireQuiet(0.01, false)).not.toThrow();
  });
});
