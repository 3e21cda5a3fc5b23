// Which secrets the store holds, asked only while so many strangers come that not all can be looked up: then a key that
// exists is told from a guess without a look-up. Whether it is valid, the look-up says that follows.

import type { KeyStore } from '../../storage/stores.ts';

/** A key that was made by another process is known after this time at the latest. */
const FRESH_MS = 1000;
const PAGE_SECRETS = 5000;
/** Some 50 bytes each. Beyond that, those that were read first stay known. */
const MAX_SECRETS = 1_000_000;
/** Clocks of several servers may differ: what is newer than this is read again. */
const OVERLAP_MS = 3_600_000;
/** Hex digits of a hash that a number holds exactly: one in 10⁸ guesses passes for one of a million keys. */
const DIGITS = 12;

export interface IssuedSecretsOptions {
  readonly store: Pick<KeyStore, 'listSecretHashes'>;
  readonly nowMs: () => number;
}

export class IssuedSecrets {
  readonly #options: IssuedSecretsOptions;
  readonly #known = new Set<number>();
  #readAtMs: number | undefined;
  #reading: Promise<void> | undefined;

  constructor(options: IssuedSecretsOptions) {
    this.#options = options;
  }

  /** One that is made here is known at once. */
  add(secretHash: string): void {
    if (this.#known.size < MAX_SECRETS) this.#known.add(shorten(secretHash));
  }

  /** @throws StoreUnavailableError */
  async has(secretHash: string): Promise<boolean> {
    const secret = shorten(secretHash);
    if (this.#known.has(secret)) return true;
    if (this.#readAtMs !== undefined && this.#options.nowMs() - this.#readAtMs < FRESH_MS) return false;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
    return this.#known.has(secret);
  }

  async #read(): Promise<void> {
    const { store, nowMs } = this.#options;
    const startedMs = nowMs();
    const createdFromMs = this.#readAtMs === undefined ? 0 : this.#readAtMs - OVERLAP_MS;
    let after: string | undefined;
    while (this.#known.size < MAX_SECRETS) {
      const page = await store.listSecretHashes({ createdFromMs, after, limit: PAGE_SECRETS });
      for (const hash of page) this.#known.add(shorten(hash));
      if (page.length < PAGE_SECRETS) break;
      after = page.at(-1);
    }
    this.#readAtMs = startedMs;
  }
}

function shorten(secretHash: string): number {
  return Number.parseInt(secretHash.slice(0, DIGITS), 16);
}
