// The audit trail: what administrators did. It is written with each change, by the stores; here it is read.

import type { StoredAuditRecord } from '../domain/audit.ts';
import { type Page, pageOf } from '../domain/page.ts';
import type { AuditStore } from '../storage/stores.ts';

export class AuditService {
  readonly #store: AuditStore;

  constructor(store: AuditStore) {
    this.#store = store;
  }

  /** Newest first. @param page `before`: id of the last record of the page before */
  async list(page: { readonly before: number | undefined; readonly limit: number }): Promise<Page<StoredAuditRecord>> {
    return pageOf(await this.#store.list({ before: page.before, limit: page.limit + 1 }), page.limit);
  }
}
