// A disk that is full, and has room again: a small file system of its own under the data folder of a server. Needs Linux
// with user namespaces; elsewhere test/money/outage.test.ts has the form that needs neither.

import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { expectClosed } from '../money/expect-closed.ts';
import { queryCopy, type Row, SqliteMoneyStore } from '../money/money-store.ts';
import { failAndRepair } from '../money/outage-run.ts';
import { LAUNCHER, type ServerProcess } from '../process/server-process.ts';

const CAPACITY = '4m';
const MIN_ROOM_BYTES = 1024;
/** In a user namespace of one's own anybody may mount. */
const NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount'] as const;
const MOUNT = `mount -t tmpfs -o size=${CAPACITY} tmpfs "$UMPIRE_DATA_DIR" && exec "$0" "$1" serve`;

const [unshare, ...options] = NAMESPACE;
const mayMount = spawnSync(unshare, [...options, 'true']).status === 0;

/** Only the server sees its disk; others through the eyes of its process. */
class SmallDiskStore extends SqliteMoneyStore {
  readonly command = [...NAMESPACE, 'sh', '-c', MOUNT, process.execPath, LAUNCHER];
  #folder = '';

  fill({ pid }: ServerProcess): void {
    this.#folder = join(`/proc/${pid}/root`, this.dataDir);
    for (let bytes = 1024 * 1024; bytes >= MIN_ROOM_BYTES; ) {
      try {
        writeFileSync(this.#filler(), Buffer.alloc(bytes), { flag: 'a' });
      } catch {
        bytes /= 2;
      }
    }
  }

  empty(): void {
    rmSync(this.#filler());
  }

  override async query(sql: string): Promise<readonly Row[]> {
    return queryCopy(this.#folder, sql);
  }

  #filler(): string {
    return join(this.#folder, 'filler');
  }
}

describe.runIf(mayMount)('a full disk', () => {
  it('refuses requests, serves nothing unbilled, and is forgotten when there is room again', async () => {
    const store = new SmallDiskStore();
    try {
      const outage = await failAndRepair({
        store,
        command: store.command,
        fail: async (server) => store.fill(server),
        repair: async () => store.empty(),
        isAffected: ({ status }) => status === 503,
      });
      process.stdout.write(`Full disk: ${outage.during.length} answers while it was full, ${outage.books.rows} rows\n`);
      expectClosed(outage);
    } finally {
      await store.dispose();
    }
  });
});
