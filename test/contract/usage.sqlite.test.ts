// The suite of reports over SQLite.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import { migrate } from '../../src/storage/migrations.ts';
import type { Database } from '../../src/storage/schema.ts';
import { SqliteThreadDialect } from '../../src/storage/sqlite/sqlite-dialect.ts';
import { SqliteThread } from '../../src/storage/sqlite/sqlite-thread.ts';
import { describeUsage } from './usage.suite.ts';

describeUsage('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-usage-'));
  const openAgain = async (): Promise<Kysely<Database>> => {
    const thread = await SqliteThread.open({ file: join(folder, 'umpire.sqlite'), busyTimeoutMs: 5000 });
    return new Kysely<Database>({ dialect: new SqliteThreadDialect(thread) });
  };
  const database = await openAgain();
  await migrate(database, 0);
  return {
    database,
    openAgain,
    remove: async () => {
      await database.destroy();
      rmSync(folder, { recursive: true });
    },
  };
});
