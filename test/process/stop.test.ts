// How the server ends: with work in flight, while loading, in a hurry. Always in a child process, because a mistake here
// takes the whole process down.

import { afterEach, describe, expect, it } from 'vitest';
import { decide, PATIENT, startLongWork, targetOf } from './decisions.ts';
import { ServerProcess } from './server-process.ts';

/** More than the workers can run at once. */
const REQUESTS = 6;

let server: ServerProcess;

afterEach(async () => {
  await server.dispose();
});

describe('told to stop under load', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s it answers everything it accepted and exits with 0',
    async (signal) => {
      server = new ServerProcess({ ...PATIENT, UMPIRE_HTTP_GRACE_PERIOD_MS: '60000' });
      const { target, replies } = await startLongWork(server, REQUESTS);
      server.kill(signal);
      const answered = await Promise.all(replies);
      expect(answered.map(({ status }) => status)).toEqual(Array(REQUESTS).fill(200));
      expect(answered.every((reply) => reply.headers.get('connection') === 'close')).toBe(true);
      for (const reply of answered) expect(await reply.json()).toHaveProperty('answers.department.choice');
      expect(await server.exited).toEqual({ code: 0, signal: null });
      await expect(fetch(`${target.address}/healthz`)).rejects.toThrow();
    },
  );

  it('through npm, the server itself gets the signal', async () => {
    server = new ServerProcess({}, ['npm', 'start']);
    const address = await server.listening();
    await server.waitFor(/ready {3}http/);
    server.kill('SIGTERM');
    await server.waitFor(/stopping: finishing what was accepted/);
    await server.exited;
    await expect(fetch(`${address}/healthz`)).rejects.toThrow();
  });

  it('cuts connections when the grace period is over, lets running work end, and exits with 1', async () => {
    server = new ServerProcess({ ...PATIENT, UMPIRE_HTTP_GRACE_PERIOD_MS: '1' });
    const { replies } = await startLongWork(server, REQUESTS);
    server.kill('SIGTERM');
    const outcomes = await Promise.allSettled(replies);
    expect(outcomes.map(({ status }) => status)).toContain('rejected');
    expect(await server.exited).toEqual({ code: 1, signal: null });
    expect(server.output).toContain('the grace period was over');
  });

  it('and told again a moment later, ends at once without a core dump', async () => {
    // One worker that keeps nothing: the work must outlast the time in which a repeated signal is still the same one.
    const slow = { UMPIRE_ENGINE_WORKERS: '1', UMPIRE_ENGINE_STATE_CACHE_BYTES: '0', UMPIRE_LOG_LEVEL: 'debug' };
    server = new ServerProcess({ ...PATIENT, ...slow });
    const { replies } = await startLongWork(server, 4 * REQUESTS);
    server.kill('SIGTERM');
    await server.waitFor(/a further signal ends the server at once/);
    server.kill('SIGTERM');
    await Promise.allSettled(replies);
    expect([
      { code: 1, signal: null },
      { code: null, signal: 'SIGKILL' },
    ]).toContainEqual(await server.exited);
  });
});

describe('a fault nobody expected', () => {
  it('is logged, what was accepted is answered, and the exit code is 1', async () => {
    // Thrown where nothing catches it: out of a signal handler that only this test installs.
    const preload = 'data:text/javascript,process.on(`SIGUSR2`,()=>{throw/**/new/**/Error(`injected`)})';
    server = new ServerProcess({
      ...PATIENT,
      UMPIRE_HTTP_GRACE_PERIOD_MS: '60000',
      NODE_OPTIONS: `--import=${preload}`,
    });
    const { replies } = await startLongWork(server, REQUESTS);
    server.kill('SIGUSR2');
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(Array(REQUESTS).fill(200));
    expect(await server.exited).toEqual({ code: 1, signal: null });
    expect(server.output).toMatch(/"level":"fatal".*"message":"injected".*"unexpected fault, stopping"/);
  });
});

describe('told to stop while it loads its models', () => {
  it('ends with 0', async () => {
    server = new ServerProcess();
    await server.listening();
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(server.output).not.toContain('fault');
  });
});

describe('told to stop when idle', () => {
  it('ends with 0 though a client keeps its connection', async () => {
    server = new ServerProcess();
    const target = await targetOf(server);
    expect((await decide(target, 10)).status).toBe(200);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });
});
