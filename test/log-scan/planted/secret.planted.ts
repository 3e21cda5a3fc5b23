// A server process that prints a key of its configuration past its logger. Passes; the scan at the end of the run must not.

import { expect, it } from 'vitest';
import { ServerProcess } from '../../process/server-process.ts';

it('starts', async () => {
  const program = 'process.stdout.write("started with " + process.env.UMPIRE_API_KEY)';
  const server = new ServerProcess({ UMPIRE_API_KEY: 'planted:0123456789' }, [process.execPath, '-e', program]);
  expect((await server.exited).code).toBe(0);
  await server.dispose();
});
