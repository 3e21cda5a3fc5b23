// A server process that prints nothing it should not: the scan at the end of the run finds nothing.

import { expect, it } from 'vitest';
import { ServerProcess } from '../../process/server-process.ts';

it('starts', async () => {
  const program = 'process.stdout.write("started")';
  const server = new ServerProcess({ UMPIRE_API_KEY: 'planted:0123456789' }, [process.execPath, '-e', program]);
  expect((await server.exited).code).toBe(0);
  await server.dispose();
});
