// The suite of stores over SQLite. What only a file or its thread can get wrong is in sqlite-*.test.ts.

import { afterAll } from 'vitest';
import { ReusedSqliteStores } from './reused-sqlite-stores.ts';
import { describeStores } from './stores.suite.ts';

const reused = new ReusedSqliteStores();

afterAll(async () => {
  await reused.remove();
});

describeStores('SQLite', () => reused.open());
