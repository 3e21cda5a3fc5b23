// Which addresses other machines can reach, and what is said where nobody can listen.

import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { describeListenFailure, findListenFault, isReachableFromOutside } from './listen-address.ts';

describe('an address', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1', 'localhost'])('%s is of this machine alone', (address) => {
    expect(isReachableFromOutside(address)).toBe(false);
  });

  it.each(['0.0.0.0', '::', '192.168.1.5', 'fe80::1', '2001:db8::1', '128.0.0.1', 'some.name'])(
    '%s is not',
    (address) => {
      expect(isReachableFromOutside(address)).toBe(true);
    },
  );
});

describe('a port', () => {
  it('is free until somebody listens, and looking at it does not take it', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const address = { host: '127.0.0.1', port };
    expect(await findListenFault(address)).toContain(`npm start -- --port ${port + 1}`);
    await new Promise((resolve) => other.close(resolve));
    expect(await findListenFault(address)).toBeUndefined();
    expect(await findListenFault(address)).toBeUndefined();
  });

  it('that cannot be had comes with the remedy', () => {
    const failure = (code: string): string =>
      describeListenFailure({ host: 'h', port: 65_535 }, Object.assign(new Error('told'), { code }));
    expect(failure('EADDRINUSE')).toContain('--port 65534');
    expect(failure('EACCES')).toContain('--port 8080');
    expect(failure('EADDRNOTAVAIL')).toContain('--host 0.0.0.0');
    expect(failure('ENOTFOUND')).toContain('--host 127.0.0.1');
    expect(failure('EMFILE')).toBe('Cannot listen on h, port 65535: told.');
  });
});
