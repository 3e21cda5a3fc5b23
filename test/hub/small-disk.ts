// A disk of one process's own, small enough to be filled: in a user namespace of one's own anybody may mount.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount'] as const;
const LEAST_BYTES = 1024;

/** @param what of a test is left out where nothing can be mounted, which is told aloud */
export function mayMount(what: string): boolean {
  const [unshare, ...options] = NAMESPACE;
  const may = spawnSync(unshare, [...options, 'true']).status === 0;
  if (!may) process.stderr.write(`Nothing can be mounted here: ${what} is not tried.\n`);
  return may;
}

/** @returns a command that starts what follows it, for which `folder` is a disk of so many bytes; others see it through `/proc` */
export function onSmallDisk(folder: string, bytes: number): readonly string[] {
  return [...NAMESPACE, 'sh', '-c', `mount -t tmpfs -o size=${bytes} tmpfs "${folder}" && exec "$0" "$@"`];
}

/** Until nothing goes in any more. */
export function fill(file: string): void {
  for (let bytes = 8 * 1024 * 1024; bytes >= LEAST_BYTES; ) {
    try {
      writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' });
    } catch {
      bytes /= 2;
    }
  }
}
