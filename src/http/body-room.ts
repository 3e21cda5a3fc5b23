// How much memory bodies may take that are being read, parsed, or wait to be let go: in total and for each key. Who finds
// no room waits a while with its socket unread, then is refused. Counts what it is told; what a body costs, others know.

import { AppError } from '../domain/errors.ts';
import { Share } from './body-share.ts';

export interface BodyRoomOptions {
  readonly totalBytes: number;
  readonly keyBytes: number;
  /** Default: `performance.now()`. */
  readonly nowMs?: () => number;
}

/** How long a body may wait for room. Clients have patience of ten seconds, and the work is still to be done. */
const MAX_WAIT_MS = 4000;
/** Of one key. Each holds a connection and what the kernel has received of its body. */
const MAX_WAITING = 128;
/** A body of so much or less finds room beside large ones of other keys: in a part of the room that these leave alone. */
const SMALL_BYTES = 64 * 1024;
const PART_FOR_SMALL = 0.125;
const MIN_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** The request ended while its body waited for room. Nobody is left to be told. */
export class PlaceReleasedError extends Error {
  override readonly name = 'PlaceReleasedError';
}

/** What one request's body takes. */
export interface BodyPlace {
  /** Takes more room, at once where there is some. @throws AppError `overloaded` */
  grow(bytes: number): Promise<void>;
  /** Gives all of it back, also what is waited for. May be called twice; nothing can be taken afterwards. */
  release(): void;
}

interface Held {
  readonly keyId: string;
  bytes: number;
  isReleased: boolean;
}

interface WaitingBody {
  readonly held: Held;
  readonly bytes: number;
  readonly enter: () => void;
  readonly refuse: (error: Error) => void;
}

export class BodyRoom {
  readonly #total: Share;
  readonly #keyBytes: number;
  readonly #nowMs: () => number;
  readonly #shares = new Map<string, Share>();
  readonly #waiters = new Set<WaitingBody>();

  constructor({ totalBytes, keyBytes, nowMs = () => performance.now() }: BodyRoomOptions) {
    this.#total = new Share(totalBytes);
    this.#keyBytes = keyBytes;
    this.#nowMs = nowMs;
  }

  get heldBytes(): number {
    return this.#total.heldBytes;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** A place that takes no room yet. */
  place(keyId: string): BodyPlace {
    const held: Held = { keyId, bytes: 0, isReleased: false };
    return {
      grow: async (bytes) => {
        if (held.isReleased) throw new PlaceReleasedError();
        // Who holds something is nearer to giving it back than who waits to begin.
        const mustQueue = held.bytes === 0 && bytes > SMALL_BYTES && this.#shareOf(keyId).waiting > 0;
        if (!mustQueue && this.#fits(held, bytes)) this.#take(held, bytes);
        else await this.#wait(held, bytes);
      },
      release: () => this.#release(held),
    };
  }

  #fits(held: Held, bytes: number): boolean {
    return this.#shareOf(held.keyId).fits(held.bytes, bytes) && this.#fitsAll(held, bytes);
  }

  #fitsAll(held: Held, bytes: number): boolean {
    const keptFree = held.bytes + bytes <= SMALL_BYTES ? 0 : this.#total.limitBytes * PART_FOR_SMALL;
    return this.#total.fits(held.bytes, bytes, keptFree);
  }

  /** Resolves when the room is taken. */
  async #wait(held: Held, bytes: number): Promise<void> {
    const share = this.#shareOf(held.keyId);
    if (share.waiting >= MAX_WAITING) throw this.#refusal(held, bytes);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: WaitingBody = { held, bytes, enter: resolve, refuse: reject };
    const timer = setTimeout(() => reject(this.#refusal(held, bytes)), MAX_WAIT_MS);
    this.#waiters.add(waiter);
    for (const one of [share, this.#total]) one.startWaiting(bytes);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
      for (const one of [share, this.#total]) one.stopWaiting(bytes);
      this.#forgetIdle(held.keyId);
    }
  }

  #take(held: Held, bytes: number): void {
    held.bytes += bytes;
    for (const share of [this.#shareOf(held.keyId), this.#total]) share.take(bytes);
  }

  #release(held: Held): void {
    held.isReleased = true;
    const { bytes, keyId } = held;
    held.bytes = 0;
    for (const waiter of this.#waiters) if (waiter.held === held) waiter.refuse(new PlaceReleasedError());
    if (bytes === 0) return;
    for (const share of [this.#shareOf(keyId), this.#total]) share.giveBack(bytes, this.#nowMs());
    this.#forgetIdle(keyId);
    this.#letIn();
  }

  /** Those first that hold something already: they are nearest to giving it back. */
  #letIn(): void {
    const inOrder = [...this.#waiters].filter(({ held }) => !held.isReleased);
    let isBlocked = false;
    for (const waiter of [...inOrder.filter(({ held }) => held.bytes > 0), ...inOrder]) {
      const { held, bytes } = waiter;
      if (!this.#waiters.has(waiter) || !this.#shareOf(held.keyId).fits(held.bytes, bytes)) continue;
      const isSmall = held.bytes + bytes <= SMALL_BYTES;
      // What a large one waits for is not given to others behind it.
      if ((isBlocked && !isSmall) || !this.#fitsAll(held, bytes)) {
        isBlocked = true;
        continue;
      }
      this.#waiters.delete(waiter);
      this.#take(held, bytes);
      waiter.enter();
    }
  }

  #shareOf(keyId: string): Share {
    const known = this.#shares.get(keyId);
    if (known !== undefined) return known;
    const share = new Share(this.#keyBytes);
    this.#shares.set(keyId, share);
    return share;
  }

  #forgetIdle(keyId: string): void {
    const share = this.#shares.get(keyId);
    if (share !== undefined && share.heldBytes === 0 && share.waiting === 0) this.#shares.delete(keyId);
  }

  #refusal(held: Held, bytes: number): AppError {
    const nowMs = this.#nowMs();
    const shares = [this.#shareOf(held.keyId), this.#total];
    const waits = shares.map((share) => share.waitMs(bytes, { nowMs, longestWaitMs: MAX_WAIT_MS }));
    const retryAfterMs = Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, ...waits));
    return new AppError('overloaded', 'Too much of other requests is being read at the moment.', { retryAfterMs });
  }
}
