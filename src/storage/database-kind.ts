// Which of the two databases a query builder speaks to, for the few statements that differ.

import { type Kysely, PostgresAdapter } from 'kysely';
import type { Database } from './schema.ts';

export function isPostgres(database: Kysely<Database>): boolean {
  return database.getExecutor().adapter instanceof PostgresAdapter;
}
