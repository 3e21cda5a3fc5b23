// The suite of reports over SQLite. Other processes are played by threads, as the server has one.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { migrate } from '../../src/storage/migrations.ts';
import type { Database } from '../../src/storage/schema.ts';
import { SqliteClient } from '../../src/storage/sqlite/sqlite-client.ts';
import { SqliteConnection } from '../../src/storage/sqlite/sqlite-connection.ts';
import { NodeSqliteDialect } from '../../src/storage/sqlite/sqlite-dialect.ts';
import { describeUsage } from './usage.suite.ts';

describeUsage('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-usage-'));
  const file = join(folder, 'umpire.sqlite');
  writeFileSync(file, '');
  const database = new Kysely<Database>({
    dialect: new NodeSqliteDialect(new SqliteConnection(file, { busyTimeoutMs: 5000 })),
  });
  await migrate(database, 0);
  return {
    database,
    async openAgain() {
      const client = await SqliteClient.open({ file, lockFile: undefined, busyTimeoutMs: 5000 });
      return { usage: client.store('usage'), close: () => client.close() };
    },
    async explain(query) {
      const { rows } = await sql`explain query plan ${sql.raw(query)}`.execute(database);
      return JSON.stringify(rows);
    },
    async remove() {
      await database.destroy();
      rmSync(folder, { recursive: true });
    },
  };
});
