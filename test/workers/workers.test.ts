// Real threads with tiny real models, each case in a child process whose exit code is asserted, with two or more tasks
// in flight.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runScenario } from './run-scenario.ts';

async function withHome(action: (home: string) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'umpire-home-'));
  try {
    await action(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

const homeVariables = (home: string) => ({ HOME: home, XDG_CACHE_HOME: join(home, 'cache'), TMPDIR: home });

describe('workers', () => {
  it('finish what was accepted when the engine is drained under load', async () => {
    const { exitCode, output, stderr } = await runScenario('drain');
    expect(output, stderr).toEqual({ busyWorkers: 2, answered: 8, late: 'overloaded', state: 'draining' });
    expect(exitCode).toBe(0);
  });

  it('answer what was taken and refuse the rest when there is too much', async () => {
    const { exitCode, output, stderr } = await runScenario('overload');
    expect(output, stderr).toMatchObject({ answered: 5, overloaded: 25 });
    expect((output as { least: number }).least).toBeGreaterThanOrEqual(100);
    expect(exitCode).toBe(0);
  });

  it('never run what a caller left behind in the queue', async () => {
    const { exitCode, output, stderr } = await runScenario('caller-left');
    expect(output, stderr).toEqual({ queuedBefore: 4, queuedAfter: 2, reasons: ['left', 'left'], answered: 3 });
    expect(exitCode).toBe(0);
  });

  it('survive an error in a task and are replaced when one dies', async () => {
    const { exitCode, output, stderr } = await runScenario('worker-error');
    expect(output, stderr).toEqual({
      malformed: 'internal_error',
      beside: 'answered',
      dead: 'internal_error',
      alive: 'answered',
      after: Array.from({ length: 4 }, () => 'answered'),
      faults: [],
    });
    expect(exitCode).toBe(0);
  });
});

describe('a worker that has nothing to do', () => {
  it('has the process give back what its allocator holds, and answers as before', async () => {
    const { output, stderr } = await runScenario('idle-worker');
    const { isPossible } = output as { isPossible: boolean };
    if (!isPossible) process.stderr.write('SKIPPED: giving memory back: no addon is built, or it cannot here\n');
    expect(output, stderr).toMatchObject({ isSame: true, isFreed: isPossible });
  });
});

describe('telemetry of the runtime library', () => {
  it('would write into the home folder if it were let', () =>
    withHome(async (home) => {
      await runScenario('raw-library', homeVariables(home));
      expect(await readdir(home, { recursive: true })).toContainEqual(expect.stringContaining('deviceid'));
    }));

  it('writes nothing under the engine', () =>
    withHome(async (home) => {
      const { exitCode, output, stderr } = await runScenario('telemetry', homeVariables(home));
      expect(output, stderr).toEqual({ done: true });
      expect(exitCode).toBe(0);
      expect(await readdir(home, { recursive: true })).toEqual([]);
    }));
});
