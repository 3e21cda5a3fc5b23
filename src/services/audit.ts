// The audit trail: what administrators did. A change of the store is written with its record by the store itself; what is
// changed elsewhere is recorded here. Read here, too.

import type { AuditRecord, StoredAuditRecord } from '../domain/audit.ts';
import { type Page, pageOf } from '../domain/page.ts';
import type { AuditStore } from '../storage/stores.ts';

export class AuditService {
  readonly #store: AuditStore;

  constructor(store: AuditStore) {
    this.#store = store;
  }

  /** Before what it tells of is done. @throws StoreUnavailableError: then it must not be done */
  async record(record: AuditRecord): Promise<void> {
    await this.#store.append(record);
  }

  /** Newest first. @param page `before`: id of the last record of the page before */
  async list(page: { readonly before: number | undefined; readonly limit: number }): Promise<Page<StoredAuditRecord>> {
    return pageOf(await this.#store.list({ before: page.before, limit: page.limit + 1 }), page.limit);
  }
}
