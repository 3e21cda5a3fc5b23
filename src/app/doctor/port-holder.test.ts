// Who listens on a port, as Linux tells it.

import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { findPortHolder } from './port-holder.ts';

it.runIf(process.platform === 'linux')(
  'the process that listens on a port is named, and a free port has none',
  async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    expect(findPortHolder(port)).toMatch(new RegExp(`^.+ \\(process ${process.pid}\\)$`));
    await new Promise((resolve) => server.close(resolve));
    expect(findPortHolder(port)).toBeUndefined();
  },
);
