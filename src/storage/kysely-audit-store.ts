// The audit trail in any SQL store that kysely speaks to.

import type { Kysely } from 'kysely';
import type { AuditRecord, StoredAuditRecord } from '../domain/audit.ts';
import { insertAuditRow } from './audit-row.ts';
import type { Database } from './schema.ts';
import type { AuditStore } from './stores.ts';

export class KyselyAuditStore implements AuditStore {
  readonly #database: Kysely<Database>;

  constructor(database: Kysely<Database>) {
    this.#database = database;
  }

  async append(record: AuditRecord): Promise<void> {
    await insertAuditRow(this.#database, record);
  }

  async list(page: Parameters<AuditStore['list']>[0]): Promise<readonly StoredAuditRecord[]> {
    const newest = this.#database.selectFrom('audit_log').selectAll().orderBy('id', 'desc').limit(page.limit);
    const rows = await (page.before === undefined ? newest : newest.where('id', '<', page.before)).execute();
    return rows.map(({ id, at_ms, actor, action, target, details }) => ({
      ...{ id: Number(id), atMs: Number(at_ms), actor, action, target },
      details: JSON.parse(details) as Record<string, unknown>,
    }));
  }
}
