// Containers of podman, on the store of a test. Nothing of them is left when the store is removed.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageStore } from './image-store.ts';

export interface Typed {
  readonly status: number | null;
  /** What went to standard output and to standard error, one after the other. */
  readonly printed: string;
}

/** Limits that whoever starts the tests surely has; without systemd on this machine podman's defaults would not work. */
const SETTINGS = `[containers]
default_ulimits = ["nofile=8192:8192", "nproc=8192:8192"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
`;

export class Podman {
  readonly #store: ImageStore;
  readonly #settings: string;

  constructor(store: ImageStore) {
    this.#store = store;
    this.#settings = join(store.folder, 'containers.conf');
    writeFileSync(this.#settings, SETTINGS);
  }

  try(...words: string[]): Typed {
    // The other runtime that podman knows does not take both kinds of control groups side by side.
    const { status, stdout, stderr, error } = spawnSync('podman', ['--runtime=runc', ...this.#store.words, ...words], {
      encoding: 'utf8',
      env: { ...process.env, CONTAINERS_CONF: this.#settings },
    });
    if (error !== undefined) throw error;
    return { status, printed: (stdout + withoutTimers(stderr)).trim() };
  }

  /** @returns what it printed. @throws Error when it fails */
  run(...words: string[]): string {
    const { status, printed } = this.try(...words);
    if (status !== 0) throw new Error(`podman ${words.join(' ')}\nended with ${status}:\n${printed}`);
    return printed;
  }

  /** Every container and volume goes. */
  remove(): void {
    this.try('pod', 'rm', '--all', '--force', '--time', '0');
    this.try('rm', '--all', '--force', '--time', '0');
    this.try('volume', 'rm', '--all', '--force');
  }
}

/** It says of each image with a health check that a machine without systemd has no timers for it. */
function withoutTimers(printed: string): string {
  return printed.replace(/^.*\b(systemd connection|connect to syslog).*\n?/gm, '');
}
