// Memory that workers share while they do one decision together: how much of it may be in use at once, and what is used
// again.

import type { Clock } from '../../domain/clock.ts';

export interface SharedMemoriesOptions {
  /** In use at once; a single decision may have more when it is alone. */
  readonly budgetBytes: number;
  readonly clock: Clock;
}

/** Memory of one decision, from its first part to its end. */
export interface MemoryHold {
  readonly bytes: number;
  readonly submittedMs: number;
}

/** Kept for the next decision, however long that takes to come. */
const KEPT_BYTES = 16 * 1024 * 1024;
/**
 * More than that is kept for so long after its last use. Shared memory does not count for V8's garbage collector: what is
 * dropped with each document and allocated with the next would pile up until a collection that nothing asks for.
 */
const RELEASE_AFTER_MS = 20_000;
/** A decision that has waited this long for memory is let in before any that came after it. */
const PATIENCE_MS = 1000;

export class SharedMemories {
  readonly #budgetBytes: number;
  readonly #clock: Clock;
  readonly #holds = new Set<MemoryHold>();
  /** Memories that nobody reads or writes at the moment, smallest first. */
  #free: SharedArrayBuffer[] = [];
  /** Oldest decision that was turned away. */
  #waiting: MemoryHold | undefined;
  #cancelRelease: () => void = () => undefined;

  constructor({ budgetBytes, clock }: SharedMemoriesOptions) {
    this.#budgetBytes = budgetBytes;
    this.#clock = clock;
  }

  /** Whether there is room for a decision to begin. One that has waited long goes before others. */
  hasRoom(hold: MemoryHold): boolean {
    const elder = this.#waiting;
    const isInTurn = elder === undefined || elder === hold || this.#clock.nowMs() - elder.submittedMs < PATIENCE_MS;
    if (isInTurn && (this.#usedBytes === 0 || this.#usedBytes + hold.bytes <= this.#budgetBytes)) return true;
    if (elder === undefined || hold.submittedMs < elder.submittedMs) this.#waiting = hold;
    return false;
  }

  begin(hold: MemoryHold): void {
    this.#holds.add(hold);
    if (this.#waiting === hold) this.#waiting = undefined;
  }

  /** @param bytes the most that a share may come to: made by what one did come to, it would do for no other */
  take(bytes: number): SharedArrayBuffer {
    const at = this.#free.findIndex(({ byteLength }) => byteLength >= bytes);
    const [free] = at < 0 ? [] : this.#free.splice(at, 1);
    return free ?? new SharedArrayBuffer(bytes);
  }

  /** @param memories that the decision used; only when no worker reads or writes them any more */
  end(hold: MemoryHold, memories: readonly SharedArrayBuffer[] = []): void {
    this.#holds.delete(hold);
    if (this.#waiting === hold) this.#waiting = undefined;
    this.#free = [...this.#free, ...memories].sort((a, b) => a.byteLength - b.byteLength);
    this.#drop(this.#budgetBytes - this.#usedBytes);
    this.#cancelRelease();
    this.#cancelRelease = this.#clock.after(RELEASE_AFTER_MS, () => this.#drop(KEPT_BYTES));
  }

  get #usedBytes(): number {
    return [...this.#holds].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #drop(keptBytes: number): void {
    let total = this.#free.reduce((sum, { byteLength }) => sum + byteLength, 0);
    while (total > keptBytes && this.#free.length > 0) total -= this.#free.pop()?.byteLength ?? 0;
  }
}
