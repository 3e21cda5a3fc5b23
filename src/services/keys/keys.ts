// API keys: made, recognised, changed, rotated, revoked. Owns what makes a key valid; what its fields may hold is in
// domain/key-rules.ts, how it is kept is the store's business, and which models it opens the catalog's.

import { timingSafeEqual } from 'node:crypto';
import { type ApiKey, isOver, type KeyScope, type KeyState, keyStateOf, NO_LIMITS } from '../../domain/api-key.ts';
import { type AuditRecord, isOnTheMachine, SERVER } from '../../domain/audit.ts';
import { AppError } from '../../domain/errors.ts';
import { checkKeyFields, checkOverlap, KEY_RULES, type KeyFields } from '../../domain/key-rules.ts';
import type { KeyChange, KeySecret, KeyStore } from '../../storage/stores.ts';
import { createFixedKey } from './fixed-key.ts';
import { IssuedSecrets } from './issued-secrets.ts';
import { describeChange, describeKey } from './key-audit.ts';
import { type FoundKey, KeyCache } from './key-cache.ts';
import { createSecret, hashSecret, isWellFormedSecret, randomBase62, visiblePrefixOf } from './key-secret.ts';

const ID_LENGTH = 16;
/** What ids of keys look like. */
export const KEY_ID = /^key_[0-9A-Za-z]{1,64}$/;
/** The same in every process: of several that start on an empty store, only one can insert it. */
const FIRST_KEY_ID = 'key_initial';
const PAGE_KEYS = 1000;

export interface NewApiKey extends KeyFields {
  readonly name: string;
  /** null: all. */
  readonly models: readonly string[] | null;
  readonly expiresAtMs: number | null;
  /** Default: `inference`. */
  readonly scopes?: readonly KeyScope[];
}

/** Absent: stays. Of the limits only those that are named change. */
export interface KeyPatch extends KeyFields {
  readonly isDisabled?: boolean;
}

export interface CreatedApiKey {
  readonly key: ApiKey;
  /** Exists here and in the caller's hands, nowhere else. */
  readonly secret: string;
}

export interface RotatedApiKey extends CreatedApiKey {
  /** When the secrets before stop working at the latest. */
  readonly overlapEndsAtMs: number;
}

export interface KeyPage {
  /** Id of the last key of the page before. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface ApiKeyServiceOptions {
  readonly store: KeyStore;
  /** A key of the configuration, valid beside those of the store, with all models and scopes. */
  readonly fixedSecret?: string | undefined;
  /** Whether keys that were used lately still count while the store cannot be reached. Default: no. */
  readonly servesStale?: boolean;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly nowMs?: () => number;
}

export class ApiKeyService {
  readonly #store: KeyStore;
  readonly #nowMs: () => number;
  readonly #fixed: FoundKey | undefined;
  readonly #cache: KeyCache;
  readonly #issued: IssuedSecrets;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor({ store, fixedSecret, servesStale = false, nowMs = Date.now }: ApiKeyServiceOptions) {
    this.#store = store;
    this.#nowMs = nowMs;
    this.#fixed = fixedSecret === undefined ? undefined : createFixedKey(fixedSecret, nowMs());
    this.#issued = new IssuedSecrets({ store, nowMs });
    this.#cache = new KeyCache({
      lookUp: (hash) => store.findByHash(hash),
      isIssued: (hash) => this.#issued.has(hash),
      nowMs,
      servesStale,
    });
  }

  /** @throws AppError `invalid_request` */
  async create(wanted: NewApiKey, actor: string = SERVER): Promise<CreatedApiKey> {
    return await this.#create(`key_${randomBase62(ID_LENGTH)}`, wanted, actor);
  }

  /** @returns undefined when somebody can call this server already, or another process has just made the first key */
  async createFirst(wanted: NewApiKey): Promise<CreatedApiKey | undefined> {
    if (!(await this.hasNoKeys())) return undefined;
    try {
      return await this.#create(FIRST_KEY_ID, wanted, SERVER);
    } catch (error) {
      if (await this.hasNoKeys()) throw error;
      return undefined;
    }
  }

  async #create(id: string, wanted: NewApiKey, actor: string): Promise<CreatedApiKey> {
    const nowMs = this.#nowMs();
    const fields = checkKeyFields(wanted, nowMs);
    const { text, secret } = this.#newSecret();
    const key: ApiKey = {
      id,
      name: fields.name,
      visiblePrefix: secret.visiblePrefix,
      models: fields.models,
      scopes: fields.scopes ?? ['inference'],
      budget: fields.budget ?? null,
      limits: { ...NO_LIMITS, ...fields.limits },
      createdAtMs: nowMs,
      createdBy: actor,
      expiresAtMs: fields.expiresAtMs,
      disabledAtMs: null,
      revokedAtMs: null,
      lastUsedAtMs: null,
    };
    await this.#store.insert(
      key,
      secret,
      this.#record({ actor, action: 'key.create', target: key.id, details: describeKey(key) }),
    );
    return { key, secret: text };
  }

  /**
   * @param address of whoever calls: guesses are counted by it
   * @throws AppError `invalid_api_key`, in the same words for every reason: they would help only a thief;
   * `rate_limit_exceeded` or `overloaded` where too many keys are tried that nobody has seen; StoreUnavailableError
   */
  async authenticate(secretText: string, address = ''): Promise<ApiKey> {
    const hash = hashSecret(secretText);
    if (this.#fixed !== undefined && equalHashes(this.#fixed.secret.hash, hash)) return this.#fixed.key;
    if (!isWellFormedSecret(secretText)) throw invalidApiKey();
    const found = await this.#cache.find(hash, address);
    if (found === undefined || !equalHashes(found.secret.hash, hash)) throw invalidApiKey();
    const nowMs = this.#nowMs();
    if (isOver(found.secret.expiresAtMs, nowMs) || keyStateOf(found.key, nowMs) !== 'active') throw invalidApiKey();
    return found.key;
  }

  /** Keys of the store, oldest first; the configured one is not among them. */
  async list(page?: KeyPage): Promise<readonly ApiKey[]> {
    if (page !== undefined) return await this.#store.list(page);
    const all: ApiKey[] = [];
    for await (const key of this.#all()) all.push(key);
    return all;
  }

  /** Also that of the configuration. @throws AppError `not_found` */
  async get(id: string): Promise<ApiKey> {
    if (this.#fixed?.key.id === id) return this.#fixed.key;
    const key = isKeyId(id) ? await this.#store.findById(id) : undefined;
    if (key === undefined) throw notFound();
    return key;
  }

  /** @throws AppError `invalid_request`, `not_found`, `conflict` when it is revoked or nobody could administer any more */
  async update(id: string, patch: KeyPatch, actor: string): Promise<ApiKey> {
    const fields = checkKeyFields(patch, this.#nowMs());
    return await this.#oneByOne(async () => {
      const key = await this.#getChangeable(id);
      if (key.revokedAtMs !== null) throw new AppError('conflict', 'The key is revoked for good.');
      const losesAdmin = fields.isDisabled === true || fields.scopes?.includes('admin') === false;
      if (losesAdmin) await this.#refuseLockOut(key, actor);
      else if (endMs(fields) < endMs(key)) await this.#refuseLockOut(key, actor, endMs(key));
      const change = this.#changeOf(key, fields);
      const audit = this.#record({ actor, action: 'key.update', target: id, details: describeChange(change) });
      return this.#changed(id, await this.#store.update(id, change, audit));
    });
  }

  /** Twice: stays as it is. @throws AppError `not_found`, `conflict` when nobody could administer any more */
  async revoke(id: string, actor: string): Promise<ApiKey> {
    return await this.#oneByOne(async () => {
      const key = await this.#getChangeable(id);
      if (key.revokedAtMs !== null) return key;
      await this.#refuseLockOut(key, actor);
      return this.#changed(
        id,
        await this.#store.revoke(id, this.#record({ actor, action: 'key.revoke', target: id, details: {} })),
      );
    });
  }

  /**
   * A new secret; those before it work until the overlap ends.
   * @throws AppError `invalid_request`, `not_found`, `conflict` when it is revoked
   */
  async rotate(id: string, actor: string, overlapMs: number = KEY_RULES.defaultOverlapMs): Promise<RotatedApiKey> {
    checkOverlap(overlapMs);
    await this.#getChangeable(id);
    const { text, secret } = this.#newSecret();
    const overlapEndsAtMs = secret.createdAtMs + overlapMs;
    const audit = this.#record({
      actor,
      action: 'key.rotate',
      target: id,
      details: { overlap_seconds: overlapMs / 1000 },
    });
    const key = await this.#store.rotate(id, { secret, overlapEndsAtMs, audit });
    if (key === undefined) throw new AppError('conflict', 'The key is revoked for good.');
    this.#cache.forget(id);
    return { key, secret: text, overlapEndsAtMs };
  }

  stateOf(key: ApiKey): KeyState {
    return keyStateOf(key, this.#nowMs());
  }

  /** Whether nobody can call this server yet. */
  async hasNoKeys(): Promise<boolean> {
    return this.#fixed === undefined && (await this.#store.count()) === 0;
  }

  async *#all(): AsyncGenerator<ApiKey> {
    let after: string | undefined;
    for (;;) {
      const page = await this.#store.list({ after, limit: PAGE_KEYS });
      yield* page;
      if (page.length < PAGE_KEYS) return;
      after = page.at(-1)?.id;
    }
  }

  /** @throws AppError `not_found`, `conflict` */
  async #getChangeable(id: string): Promise<ApiKey> {
    const key = await this.get(id);
    if (key !== this.#fixed?.key) return key;
    throw new AppError('conflict', 'This is the key of the configuration; it can only be changed there.');
  }

  /**
   * An administrator may lock others out, but neither itself nor everybody.
   * @param untilMs how long somebody else must administer; default: now @throws AppError `conflict`
   */
  async #refuseLockOut(target: ApiKey, actor: string, untilMs = this.#nowMs()): Promise<void> {
    const nowMs = this.#nowMs();
    const administers = (key: ApiKey): boolean => keyStateOf(key, nowMs) === 'active' && key.scopes.includes('admin');
    if (isOnTheMachine(actor) || !administers(target)) return;
    if (target.id === actor) {
      throw new AppError('conflict', 'A key cannot take this from itself; use another key, or the command line.');
    }
    if (this.#fixed !== undefined) return;
    for await (const key of this.#all()) if (key.id !== target.id && administers(key) && endMs(key) >= untilMs) return;
    throw new AppError('conflict', 'This is the last valid key with the scope "admin".');
  }

  #changeOf(key: ApiKey, { isDisabled, limits, ...fields }: KeyPatch): KeyChange {
    const disabledAtMs = isDisabled === true ? (key.disabledAtMs ?? this.#nowMs()) : null;
    return {
      ...fields,
      ...(limits === undefined ? {} : { limits: { ...key.limits, ...limits } }),
      ...(isDisabled === undefined ? {} : { disabledAtMs }),
    };
  }

  #changed(id: string, key: ApiKey | undefined): ApiKey {
    this.#cache.forget(id);
    if (key === undefined) throw notFound();
    return key;
  }

  // Two changes at once could each rely on what the other takes away: the last but one administrator, a limit.
  #oneByOne<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#lastChange.then(change);
    this.#lastChange = result.catch(() => undefined);
    return result;
  }

  #newSecret(): { text: string; secret: KeySecret } {
    const text = createSecret();
    const secret: KeySecret = {
      hash: hashSecret(text),
      visiblePrefix: visiblePrefixOf(text),
      createdAtMs: this.#nowMs(),
      expiresAtMs: null,
    };
    this.#issued.add(secret.hash);
    return { text, secret };
  }

  #record(record: Omit<AuditRecord, 'atMs'>): AuditRecord {
    return { atMs: this.#nowMs(), ...record };
  }
}

function isKeyId(text: string): boolean {
  return KEY_ID.test(text);
}

/** When it expires; Infinity: never, or not to be changed. */
function endMs({ expiresAtMs }: { readonly expiresAtMs?: number | null }): number {
  return expiresAtMs ?? Number.POSITIVE_INFINITY;
}

// Hashes rather than secrets are compared: equal lengths, and nothing about the secret shows in the time it takes.
function equalHashes(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}

function invalidApiKey(): AppError {
  return new AppError('invalid_api_key', 'The API key is not valid.');
}

function notFound(): AppError {
  return new AppError('not_found', 'There is no key with this id.', { param: 'id' });
}
