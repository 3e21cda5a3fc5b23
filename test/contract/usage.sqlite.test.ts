// The suite of reports over SQLite.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import { migrate } from '../../src/storage/migrations.ts';
import type { Database } from '../../src/storage/schema.ts';
import { SqliteConnection } from '../../src/storage/sqlite/sqlite-connection.ts';
import { NodeSqliteDialect } from '../../src/storage/sqlite/sqlite-dialect.ts';
import { describeUsage } from './usage.suite.ts';

describeUsage('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-usage-'));
  const openAgain = async (): Promise<Kysely<Database>> => {
    const connection = new SqliteConnection(join(folder, 'umpire.sqlite'), 5000);
    return new Kysely<Database>({ dialect: new NodeSqliteDialect(connection) });
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
