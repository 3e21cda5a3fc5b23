// The suite of reports over PostgreSQL.

import { Kysely, sql } from 'kysely';
import { afterAll, beforeAll } from 'vitest';
import { KyselyUsageStore } from '../../src/storage/kysely-usage-store.ts';
import { migrate } from '../../src/storage/migrations.ts';
import { PostgresPoolDialect } from '../../src/storage/postgres/postgres-dialect.ts';
import { createPool } from '../../src/storage/postgres/postgres-pool.ts';
import { retryConflicts } from '../../src/storage/postgres/retry-conflicts.ts';
import type { Database } from '../../src/storage/schema.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { describeUsage } from './usage.suite.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});

afterAll(async () => {
  await server.dispose();
});

describeUsage('PostgreSQL', async () => {
  const pool = createPool({ url: await server.createDatabase(), maxConnections: 4, connectTimeoutMs: 10_000 });
  const connect = () =>
    new Kysely<Database>({ dialect: new PostgresPoolDialect({ pool, statementTimeoutMs: 60_000 }) });
  const database = connect();
  await migrate(database, 0);
  return {
    database,
    openAgain: async () => ({ usage: retryConflicts(new KyselyUsageStore(connect())), close: async () => undefined }),
    explain: (query) =>
      database.transaction().execute(async (transaction) => {
        // A table without rows is read as a whole, unless that is forbidden.
        await sql`set local enable_seqscan = off`.execute(transaction);
        return JSON.stringify((await sql`explain ${sql.raw(query)}`.execute(transaction)).rows);
      }),
    remove: () => pool.end(),
  };
});
