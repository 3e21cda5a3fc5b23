// Opens the store that the configuration names.

import type { PostgresOptions } from './postgres/open-postgres-stores.ts';
import { openSqliteStores } from './sqlite/open-sqlite-stores.ts';
import type { Stores } from './stores.ts';

export interface StoreOptions {
  /** Where the embedded store is, and a server that owns it alone. */
  readonly dataDir: string;
  readonly exclusive: boolean;
  /** undefined: the embedded store. */
  readonly postgres: PostgresOptions | undefined;
}

/** @throws StorageError */
export async function openStores({ dataDir, exclusive, postgres }: StoreOptions): Promise<Stores> {
  if (postgres === undefined) return await openSqliteStores({ dataDir, exclusive });
  // Loaded only where it is used: most installations never speak to PostgreSQL.
  const { openPostgresStores } = await import('./postgres/open-postgres-stores.ts');
  return await openPostgresStores(postgres);
}
