// Which process listens on a port, from what Linux tells of its sockets. Other users' processes are told to root alone.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTENING = '0A';
const INODE_COLUMN = 9;

/** @returns `nginx (process 812)`; undefined: it is not told */
export function findPortHolder(port: number): string | undefined {
  const inodes = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => listenersIn(readIfTold(file), port)));
  if (inodes.size === 0) return undefined;
  const pid = listProcesses().find((candidate) => holdsSocket(candidate, inodes));
  return pid === undefined ? undefined : `${readIfTold(`/proc/${pid}/comm`).trim()} (process ${pid})`;
}

/** @returns inodes of the sockets that listen there */
function listenersIn(table: string, port: number): string[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const columns = line.trim().split(/\s+/);
      const [, local = '', , state] = columns;
      const isIt = state === LISTENING && Number.parseInt(local.split(':')[1] ?? '', 16) === port;
      return isIt ? [columns[INODE_COLUMN] ?? ''] : [];
    });
}

function listProcesses(): string[] {
  return listIfTold('/proc').filter((name) => /^\d+$/.test(name));
}

function holdsSocket(pid: string, inodes: ReadonlySet<string>): boolean {
  return listIfTold(`/proc/${pid}/fd`).some((descriptor) => {
    try {
      const [, inode = ''] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`)) ?? [];
      return inodes.has(inode);
    } catch {
      return false;
    }
  });
}

function listIfTold(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readIfTold(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
