// The address a server is to listen on, before and beside the server itself: can it be had, what to do if not, and who can
// reach it. Opens a port and lets go of it at once.

import { once } from 'node:events';
import { BlockList, createServer, isIP } from 'node:net';
import { messageOf } from '../domain/errors.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const MAX_PORT = 65_535;

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** @returns why nobody can listen there now, as a sentence with the remedy; undefined when it is free */
export async function findListenFault(address: ListenAddress): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen({ ...address, exclusive: true });
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return describeListenFailure(address, error);
  } finally {
    server.close();
  }
}

/** In words, with the flag that changes it. */
export function describeListenFailure({ host, port }: ListenAddress, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = messageOf(error);
  return `Cannot listen on ${host}, port ${port}: ${reasonAndRemedy(code, port) ?? `${message}.`}`;
}

function reasonAndRemedy(code: string, port: number): string | undefined {
  const flag = (value: string): string => `\`npm start -- ${value}\``;
  switch (code) {
    case 'EADDRINUSE': {
      const other = port < MAX_PORT ? port + 1 : port - 1;
      return `another program uses it. Stop that one, or take another port: ${flag(`--port ${other}`)}, or UMPIRE_PORT=${other}.`;
    }
    case 'EACCES':
      return `this user may not open it. Take a port from 1024: ${flag('--port 8080')}, or UMPIRE_PORT=8080.`;
    case 'EADDRNOTAVAIL':
      return `this machine has no such address. Take one that it has, or every one: ${flag('--host 0.0.0.0')}, or UMPIRE_HOST.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name leads to no address. Give an address: ${flag('--host 127.0.0.1')}, or UMPIRE_HOST.`;
    default:
      return undefined;
  }
}

/** Whether other machines can reach it. */
export function isReachableFromOutside(address: string): boolean {
  const version = isIP(address);
  return version === 0 ? address !== 'localhost' : !loopback.check(address, version === 4 ? 'ipv4' : 'ipv6');
}
