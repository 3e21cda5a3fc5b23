// What the server keeps, as interfaces. One suite of tests runs over every implementation.

import type { ApiKey } from '../domain/api-key.ts';

export interface ApiKeyRecord extends ApiKey {
  /** SHA-256 of the secret, lower-case hex. Secrets have 190 bits of entropy, so no slow hash is needed. */
  readonly secretHash: string;
}

export interface KeyStore {
  insert(record: ApiKeyRecord): Promise<void>;
  findByHash(secretHash: string): Promise<ApiKeyRecord | undefined>;
  /** Oldest first. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /** @returns false when there is no such key; revoking twice keeps the first time. */
  revoke(id: string, atMs: number): Promise<boolean>;
  count(): Promise<number>;
}

export interface Stores {
  readonly keys: KeyStore;
  close(): Promise<void>;
}
