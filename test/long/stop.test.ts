// Twenty stops under load, each of a fresh process, at different moments of the work. `npm test` has the short form.

import { describe, expect, it } from 'vitest';
import { PATIENT, startLongWork } from '../process/decisions.ts';
import { ServerProcess } from '../process/server-process.ts';
import { CTRL_C, hasTerminals, inTerminal } from '../process/terminal.ts';

const ROUNDS = 20;
const KEY = 'a-fixed-key-for-this-test';
const MAX_REQUESTS = 8;

describe.runIf(hasTerminals())('Ctrl-C on `npm start` under load', () => {
  it.each(Array.from({ length: ROUNDS }, (_, round) => round))('cuts nothing, round %i', async (round) => {
    const requests = 2 + (round % (MAX_REQUESTS - 1));
    const settings = { ...PATIENT, UMPIRE_API_KEY: KEY, UMPIRE_HTTP_GRACE_PERIOD_MS: '120000' };
    const server = new ServerProcess(settings, inTerminal('npm start'), { ownGroup: true });
    try {
      const { replies } = await startLongWork(server, requests, KEY);
      if (round % 2 === 1) await Promise.race(replies);
      server.type(CTRL_C);
      const statuses = (await Promise.all(replies)).map(({ status }) => status);
      expect(statuses).toEqual(Array(requests).fill(200));
      expect(await server.exited).toEqual({ code: 0, signal: null });
    } finally {
      await server.disposeGroup();
    }
  });
});

describe('stopping under load', () => {
  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    'answers what was accepted and exits with 0, round %i',
    async (round) => {
      // Two at least: with one task in flight an early end of the pool can look harmless.
      const requests = 2 + (round % (MAX_REQUESTS - 1));
      const server = new ServerProcess({ ...PATIENT, UMPIRE_HTTP_GRACE_PERIOD_MS: '120000' });
      try {
        const { replies } = await startLongWork(server, requests);
        // Half of the rounds let some of the work end first, so that the signal meets the queue in different states.
        if (round % 2 === 1) await Promise.race(replies);
        server.kill(round % 4 < 2 ? 'SIGTERM' : 'SIGINT');
        const statuses = (await Promise.all(replies)).map(({ status }) => status);
        expect(statuses).toEqual(Array(requests).fill(200));
        expect(await server.exited).toEqual({ code: 0, signal: null });
      } finally {
        await server.dispose();
      }
    },
  );
});
