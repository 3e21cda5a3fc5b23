// A reload that an administrator orders: it is written to the audit trail before anything is changed. What is read and taken
// over, the server knows.

import type { AuditService } from './audit.ts';

/** Names of settings; their values are not told. */
export interface ReloadReport {
  /** Since the last reload, or the start; they are in force. */
  readonly changed: readonly string[];
  /** Since the start; they wait for the next one. */
  readonly waiting: readonly string[];
}

export interface Reloading {
  /**
   * Reads the configuration again. All or nothing.
   * @param permit called before anything is changed; what it throws leaves everything as it is
   * @throws AppError `reload_failed`; what `permit` throws
   */
  reload(permit: (report: ReloadReport) => Promise<void>): Promise<ReloadReport>;
}

export interface ReloadOptions {
  readonly reloading: Reloading;
  readonly audit: Pick<AuditService, 'record'>;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly nowMs?: () => number;
}

export class ReloadService {
  readonly #options: ReloadOptions;
  readonly #nowMs: () => number;

  constructor(options: ReloadOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? Date.now;
  }

  /** @throws AppError `reload_failed`, `store_unavailable` */
  async reload(actor: string): Promise<ReloadReport> {
    const { reloading, audit } = this.#options;
    return await reloading.reload(async ({ changed }) => {
      if (changed.length === 0) return;
      const record = { actor, action: 'configuration.reload', target: 'configuration', details: { changed } };
      await audit.record({ ...record, atMs: this.#nowMs() });
    });
  }
}
