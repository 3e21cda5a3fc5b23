// How a record of the audit trail gets into its table. Apart, because every store that changes something writes one in
// the transaction of the change.

import type { Kysely } from 'kysely';
import type { AuditRecord } from '../domain/audit.ts';
import type { Database } from './schema.ts';

export async function insertAuditRow(transaction: Kysely<Database>, record: AuditRecord): Promise<void> {
  const { atMs, actor, action, target, details } = record;
  await transaction
    .insertInto('audit_log')
    .values({ at_ms: atMs, actor, action, target, details: JSON.stringify(details, writeBigInt) })
    .execute();
}

function writeBigInt(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
