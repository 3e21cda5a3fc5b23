// A process that holds a data folder as a server does, for tests that kill it or take its disk away. Says what it did in
// lines; does what lines on its input say.

import { createInterface } from 'node:readline/promises';
import { openSqliteStores } from '../../../src/storage/sqlite/open-sqlite-stores.ts';
import { reservation, rowsOf, settlement } from '../ledger-fixture.ts';

const [dataDir = ''] = process.argv.slice(2);
const stores = await openSqliteStores({ dataDir, exclusive: true });
await stores.ledger.reserve(reservation('req_open'));
process.stdout.write('opened\n');

/** More than any disk holds that a test makes. */
const MOST_ROWS = 1_000_000;
let count = 0;

async function write(): Promise<void> {
  const id = `req_${count++}`;
  await stores.ledger.reserve(reservation(id));
  await stores.ledger.settle(settlement(id));
}

async function fill(): Promise<string> {
  try {
    for (let rows = 0; rows < MOST_ROWS; rows++) await write();
    return `not full after ${MOST_ROWS} rows`;
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'fill') process.stdout.write(`${await fill()}\n`);
  if (line === 'read') process.stdout.write(`${(await rowsOf(stores)).length}\n`);
  if (line === 'write') process.stdout.write(`${await write().then(() => 'written')}\n`);
}
