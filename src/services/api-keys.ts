// API keys: made, recognised, listed, revoked. Owns what makes a key valid; how it is kept is the store's business, and
// which models it opens the catalog's.

import { timingSafeEqual } from 'node:crypto';
import { type ApiKey, type KeyScope, NO_LIMITS } from '../domain/api-key.ts';
import { AppError } from '../domain/errors.ts';
import type { ApiKeyRecord, KeyStore } from '../storage/stores.ts';
import { createSecret, hashSecret, isWellFormedSecret, randomBase62, visiblePrefixOf } from './key-secret.ts';

/** A revocation by another process is seen after this time at the latest. */
const CACHE_LIFETIME_MS = 1000;
const CACHE_ENTRIES = 10_000;
const ID_LENGTH = 16;
const FIXED_KEY_ID = 'key_configured';

export interface NewApiKey {
  readonly name: string;
  /** null: all. */
  readonly models: readonly string[] | null;
  readonly expiresAtMs: number | null;
  readonly scopes?: readonly KeyScope[];
}

export interface CreatedApiKey {
  readonly key: ApiKey;
  /** Exists here and in the caller's hands, nowhere else. */
  readonly secret: string;
}

export interface ApiKeyServiceOptions {
  readonly store: KeyStore;
  /** A key of the configuration, valid beside those of the store, with all models and scopes. */
  readonly fixedSecret?: string | undefined;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly nowMs?: () => number;
}

interface CacheEntry {
  readonly readAtMs: number;
  readonly record: Promise<ApiKeyRecord | undefined>;
}

export class ApiKeyService {
  readonly #store: KeyStore;
  readonly #nowMs: () => number;
  readonly #fixed: ApiKeyRecord | undefined;
  readonly #cache = new Map<string, CacheEntry>();

  constructor(options: ApiKeyServiceOptions) {
    this.#store = options.store;
    this.#nowMs = options.nowMs ?? Date.now;
    this.#fixed = options.fixedSecret === undefined ? undefined : fixedRecord(options.fixedSecret, this.#nowMs());
  }

  async create(wanted: NewApiKey): Promise<CreatedApiKey> {
    const secret = createSecret();
    const key: ApiKey = {
      id: `key_${randomBase62(ID_LENGTH)}`,
      name: wanted.name,
      visiblePrefix: visiblePrefixOf(secret),
      models: wanted.models,
      scopes: wanted.scopes ?? ['inference'],
      budget: null,
      limits: NO_LIMITS,
      createdAtMs: this.#nowMs(),
      createdBy: 'server',
      disabledAtMs: null,
      lastUsedAtMs: null,
      expiresAtMs: wanted.expiresAtMs,
      revokedAtMs: null,
    };
    await this.#store.insert({ ...key, secretHash: hashSecret(secret) });
    return { key, secret };
  }

  /** @throws AppError `invalid_api_key`, in the same words for every reason: they would help only a thief */
  async authenticate(secret: string): Promise<ApiKey> {
    const hash = hashSecret(secret);
    if (this.#fixed !== undefined && equalHashes(this.#fixed.secretHash, hash)) return withoutHash(this.#fixed);
    if (!isWellFormedSecret(secret)) throw invalidApiKey();
    const record = await this.#findRecord(hash);
    if (record === undefined || !equalHashes(record.secretHash, hash)) throw invalidApiKey();
    const expired = record.expiresAtMs !== null && record.expiresAtMs <= this.#nowMs();
    if (expired || record.revokedAtMs !== null) throw invalidApiKey();
    return withoutHash(record);
  }

  /** Keys of the store, oldest first; the configured one is not among them. */
  async list(): Promise<readonly ApiKey[]> {
    return (await this.#store.list()).map(withoutHash);
  }

  /** @returns false when there is no such key */
  async revoke(id: string): Promise<boolean> {
    const found = await this.#store.revoke(id, this.#nowMs());
    this.#cache.clear();
    return found;
  }

  /** Whether nobody can call this server yet. */
  async hasNoKeys(): Promise<boolean> {
    return this.#fixed === undefined && (await this.#store.count()) === 0;
  }

  // One look-up serves all requests of a key for a second, also those that arrive while it is under way. Unknown keys
  // are not remembered: a stranger's guesses must not push out the keys in use.
  #findRecord(hash: string): Promise<ApiKeyRecord | undefined> {
    const nowMs = this.#nowMs();
    const cached = this.#cache.get(hash);
    if (cached !== undefined && nowMs - cached.readAtMs < CACHE_LIFETIME_MS) return cached.record;
    const record = this.#store.findByHash(hash);
    const entry = { readAtMs: nowMs, record };
    this.#remember(hash, entry);
    const forget = (): void => {
      if (this.#cache.get(hash) === entry) this.#cache.delete(hash);
    };
    record.then((found) => found ?? forget(), forget);
    return record;
  }

  #remember(hash: string, entry: CacheEntry): void {
    this.#cache.delete(hash);
    this.#cache.set(hash, entry);
    // A map iterates in order of insertion, and every write is an insertion: the first entry is the oldest.
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > CACHE_ENTRIES && oldest !== undefined) this.#cache.delete(oldest);
  }
}

function fixedRecord(secret: string, nowMs: number): ApiKeyRecord {
  return {
    id: FIXED_KEY_ID,
    name: 'from the configuration',
    visiblePrefix: visiblePrefixOf(secret),
    models: null,
    scopes: ['inference', 'admin'],
    budget: null,
    limits: NO_LIMITS,
    createdAtMs: nowMs,
    createdBy: 'server',
    disabledAtMs: null,
    lastUsedAtMs: null,
    expiresAtMs: null,
    revokedAtMs: null,
    secretHash: hashSecret(secret),
  };
}

function withoutHash({ secretHash: _secretHash, ...key }: ApiKeyRecord): ApiKey {
  return key;
}

// Hashes rather than secrets are compared: equal lengths, and nothing about the secret shows in the time it takes.
function equalHashes(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}

function invalidApiKey(): AppError {
  return new AppError('invalid_api_key', 'The API key is not valid.');
}
