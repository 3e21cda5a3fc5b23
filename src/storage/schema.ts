// The tables as the query builder knows them, in types that every SQL store has. migrations.ts makes them.

import type { ColumnType } from 'kysely';

/** SQLite answers with a number while it is exact and a bigint beyond, PostgreSQL with text; written as a number. */
export type BigIntColumn = ColumnType<number | bigint | string, number | bigint, number | bigint>;

export interface ApiKeyTable {
  id: string;
  name: string;
  visible_prefix: string;
  secret_hash: string;
  /** JSON array of model ids; null: all. */
  models: string | null;
  /** JSON array. */
  scopes: string;
  created_at_ms: BigIntColumn;
  expires_at_ms: BigIntColumn | null;
  revoked_at_ms: BigIntColumn | null;
}

export interface MigrationTable {
  version: number;
  applied_at_ms: BigIntColumn;
}

export interface Database {
  api_keys: ApiKeyTable;
  schema_migrations: MigrationTable;
}
