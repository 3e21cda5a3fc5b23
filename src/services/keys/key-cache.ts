// What was read of keys a moment ago. Owns how old an answer may be and how often the store is asked; whether a key is
// valid, the service decides.

import type { ApiKey } from '../../domain/api-key.ts';
import { StoreUnavailableError } from '../../domain/errors.ts';
import type { KeySecret } from '../../storage/stores.ts';
import { StrangerGate } from './stranger-gate.ts';

/** A change by another process is seen after this time at the latest. */
const FRESH_MS = 1000;
/** How old an answer may be while the store fails, where that is allowed at all. */
const STALE_MS = 600_000;
const MAX_ENTRIES = 10_000;

export interface FoundKey {
  readonly key: ApiKey;
  readonly secret: KeySecret;
}

type Reading = Promise<FoundKey | undefined>;

interface KeptKey {
  found: FoundKey;
  /** When the look-up began. */
  readAtMs: number;
  reading: Reading | undefined;
}

export interface KeyCacheOptions {
  readonly lookUp: (secretHash: string) => Reading;
  /** Whether there may be such a key; asked only while too many strangers come. */
  readonly isIssued: (secretHash: string) => Promise<boolean>;
  readonly nowMs: () => number;
  /** Whether known keys still count while the store fails. */
  readonly servesStale: boolean;
}

export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #entries = new Map<string, KeptKey>();
  readonly #arriving = new Map<string, Reading>();
  readonly #strangers = new StrangerGate();
  #storeFails = false;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  /**
   * One look-up serves all requests of a key for a second, also those that arrive while it is under way.
   * @param address of whoever asks
   * @throws StoreUnavailableError; AppError `rate_limit_exceeded`, `overloaded` when too many unknown keys are tried
   */
  async find(secretHash: string, address: string): Reading {
    const entry = this.#entries.get(secretHash);
    if (entry === undefined) return await this.#findStranger(secretHash, address);
    const ageMs = this.#options.nowMs() - entry.readAtMs;
    if (ageMs < FRESH_MS) return entry.found;
    const { found } = entry;
    entry.reading ??= this.#refresh(secretHash, entry);
    if (!this.#options.servesStale || ageMs >= STALE_MS) return await entry.reading;
    const orStale = entry.reading.catch((error: unknown) => {
      if (error instanceof StoreUnavailableError) return found;
      throw error;
    });
    // A store that failed just now may take its time to fail again: it is asked beside the request.
    return this.#storeFails ? found : await orStale;
  }

  /** After a change of ours: nothing that was read before it, or is being read, counts any more. */
  forget(keyId: string): void {
    for (const [hash, { found }] of this.#entries) if (found.key.id === keyId) this.#entries.delete(hash);
    this.#arriving.clear();
  }

  async #refresh(secretHash: string, entry: KeptKey): Reading {
    const readAtMs = this.#options.nowMs();
    try {
      const found = await this.#lookUp(secretHash);
      if (this.#entries.get(secretHash) !== entry) return found;
      if (found === undefined) this.#entries.delete(secretHash);
      else this.#remember(secretHash, found, readAtMs);
      return found;
    } finally {
      entry.reading = undefined;
    }
  }

  /** A flood of guesses is kept from the store. A key that exists passes, whoever else knocks. */
  async #findStranger(secretHash: string, address: string): Reading {
    const arriving = this.#arriving.get(secretHash);
    if (arriving !== undefined) return await arriving;
    const refusal = this.#strangers.findRefusal(address, this.#options.nowMs());
    if (refusal !== undefined && !(await this.#options.isIssued(secretHash))) throw refusal;
    return await (this.#arriving.get(secretHash) ?? this.#receive(secretHash, address));
  }

  // Unknown keys are not remembered: a stranger's guesses must not push out the keys in use.
  #receive(secretHash: string, address: string): Reading {
    const readAtMs = this.#options.nowMs();
    this.#strangers.enter(address);
    const reading = this.#lookUp(secretHash).then(
      (found) => {
        this.#strangers.leave(address, found === undefined);
        const counts = this.#arriving.get(secretHash) === reading;
        if (counts && found !== undefined) this.#remember(secretHash, found, readAtMs);
        return found;
      },
      (error: unknown) => {
        this.#strangers.leave(address, false);
        throw error;
      },
    );
    this.#arriving.set(secretHash, reading);
    const arrived = (): void => {
      if (this.#arriving.get(secretHash) === reading) this.#arriving.delete(secretHash);
    };
    reading.then(arrived, arrived);
    return reading;
  }

  async #lookUp(secretHash: string): Reading {
    try {
      const found = await this.#options.lookUp(secretHash);
      this.#storeFails = false;
      return found;
    } catch (error) {
      this.#storeFails = error instanceof StoreUnavailableError;
      throw error;
    }
  }

  #remember(secretHash: string, found: FoundKey, readAtMs: number): void {
    this.#entries.delete(secretHash);
    this.#entries.set(secretHash, { found, readAtMs, reading: undefined });
    // A map iterates in order of insertion, and every write is an insertion: the first entry is the oldest.
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
  }
}
