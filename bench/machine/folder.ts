// A folder for as long as it is used.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new one, removed afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-bench-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Also when a signal ends the bench.
  process.once('exit', remove);
  try {
    return await use(folder);
  } finally {
    remove();
    process.off('exit', remove);
  }
}
