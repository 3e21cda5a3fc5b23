// A key store in memory, for tests of what is built on one. Counts look-ups, keeps the audit trail, and fails on demand.

import type { ApiKey } from '../../src/domain/api-key.ts';
import type { AuditRecord } from '../../src/domain/audit.ts';
import { StoreUnavailableError } from '../../src/domain/errors.ts';
import type { KeyChange, KeyRotation, KeySecret, KeyStore } from '../../src/storage/stores.ts';

interface Stored {
  key: ApiKey;
  secrets: KeySecret[];
}

export class MemoryKeyStore implements KeyStore {
  readonly stored: Stored[] = [];
  readonly audit: AuditRecord[] = [];
  lookups = 0;
  listings = 0;
  isDown = false;
  /** Held look-ups: each waits until somebody calls it. */
  held: (() => void)[] | undefined;

  async insert(key: ApiKey, secret: KeySecret, audit: AuditRecord): Promise<void> {
    this.stored.push({ key, secrets: [secret] });
    this.audit.push(audit);
  }

  async findByHash(hash: string): Promise<{ key: ApiKey; secret: KeySecret } | undefined> {
    this.lookups++;
    if (this.isDown) throw new StoreUnavailableError('The store is down.');
    const found = this.stored.find(({ secrets }) => secrets.some((secret) => secret.hash === hash));
    const secret = found?.secrets.find((one) => one.hash === hash);
    const answer = found === undefined || secret === undefined ? undefined : { key: found.key, secret };
    const { held } = this;
    if (held !== undefined) await new Promise<void>((resolve) => held.push(resolve));
    return answer;
  }

  async listSecretHashes({ createdFromMs, after, limit }: Parameters<KeyStore['listSecretHashes']>[0]) {
    this.listings++;
    if (this.isDown) throw new StoreUnavailableError('The store is down.');
    const secrets = this.stored.flatMap((stored) => stored.secrets);
    const hashes = secrets.filter(({ createdAtMs }) => createdAtMs >= createdFromMs).map(({ hash }) => hash);
    return hashes
      .toSorted()
      .filter((hash) => after === undefined || hash > after)
      .slice(0, limit);
  }

  async findById(id: string): Promise<ApiKey | undefined> {
    return this.#find(id)?.key;
  }

  async list(page?: { readonly after: string | undefined; readonly limit: number }): Promise<readonly ApiKey[]> {
    const all = this.stored.map(({ key }) => key);
    const from = page?.after === undefined ? 0 : all.findIndex(({ id }) => id === page.after) + 1;
    return all.slice(from, page === undefined ? undefined : from + page.limit);
  }

  async update(id: string, change: KeyChange, audit: AuditRecord): Promise<ApiKey | undefined> {
    return this.#change(id, change, audit);
  }

  async revoke(id: string, audit: AuditRecord): Promise<ApiKey | undefined> {
    const revokedAtMs = this.#find(id)?.key.revokedAtMs ?? audit.atMs;
    return this.#change(id, { revokedAtMs }, audit);
  }

  async rotate(id: string, { secret, overlapEndsAtMs, audit }: KeyRotation): Promise<ApiKey | undefined> {
    const stored = this.#find(id);
    if (stored === undefined || stored.key.revokedAtMs !== null) return undefined;
    const older = stored.secrets.map((one) => ({
      ...one,
      expiresAtMs: Math.min(one.expiresAtMs ?? Number.POSITIVE_INFINITY, overlapEndsAtMs),
    }));
    stored.secrets = [...older, secret];
    return this.#change(id, { visiblePrefix: secret.visiblePrefix }, audit);
  }

  async count(): Promise<number> {
    return this.stored.length;
  }

  #find(id: string): Stored | undefined {
    return this.stored.find(({ key }) => key.id === id);
  }

  #change(id: string, change: Partial<ApiKey>, audit: AuditRecord): ApiKey | undefined {
    const stored = this.#find(id);
    if (stored === undefined) return undefined;
    stored.key = { ...stored.key, ...change };
    this.audit.push(audit);
    return stored.key;
  }
}
