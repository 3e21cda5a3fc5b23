// Where the store of a configuration is. Opens none.

import type { Config } from '../config/schema.ts';
import type { StoreLocation } from '../storage/store-connection.ts';

export function locateStore({ databaseUrl: url, dataDir, database }: Config): StoreLocation {
  const { connectTimeoutMs } = database;
  return url === undefined ? { type: 'sqlite', dataDir } : { type: 'postgres', url, connectTimeoutMs };
}
