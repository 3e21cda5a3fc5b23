// The order in which requests ended: step 3 of migrations.ts, never edited once released, and the expression it indexes.

import { sql, type Transaction } from 'kysely';
import type { Database } from './schema.ts';

/** Milliseconds since the epoch. Word for word as in the index, or the index does not serve it. */
export const ENDED_AT = sql<number>`(accepted_at_ms + duration_ms)`;

export async function indexLedgerByEnd(transaction: Transaction<Database>): Promise<void> {
  await sql`create index ledger_by_end on ledger (${ENDED_AT}, id)`.execute(transaction);
}
