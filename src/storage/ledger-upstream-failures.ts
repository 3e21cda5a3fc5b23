// Which upstreams gave no answer to a request, and why: step 5 of migrations.ts, never edited once released.

import { sql, type Transaction } from 'kysely';
import { isPostgres } from './database-kind.ts';
import type { Database } from './schema.ts';

/** Without a default: an older server beside this one goes on to write rows, and no row is touched. */
export async function addUpstreamFailuresToLedger(transaction: Transaction<Database>): Promise<void> {
  const type = isPostgres(transaction) ? sql`text collate "C"` : ('text' as const);
  await transaction.schema.alterTable('ledger').addColumn('upstream_failures', type).execute();
}
