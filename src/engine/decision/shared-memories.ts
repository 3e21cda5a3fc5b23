// Memory that workers share while they do one decision together: how much of it may be in use at once, and what is used
// again.

import type { Clock } from '../../domain/clock.ts';

export interface SharedMemoriesOptions {
  /** In use at once; a single decision may have more when it is alone. */
  readonly budgetBytes: number;
  /** What the largest document takes. */
  readonly largestBytes: number;
  readonly clock: Clock;
}

/** Memory of one decision, from its first part to its end. */
export interface MemoryHold {
  /** Estimated. */
  readonly bytes: number;
  readonly submittedMs: number;
}

/** Room for any document, so that each does for the next. Pages that nobody has touched take no memory. */
interface Room {
  readonly memory: SharedArrayBuffer;
  readonly touchedBytes: number;
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
  readonly #options: SharedMemoriesOptions;
  /** Decisions under way, and what those have that have begun to write. */
  readonly #holds = new Map<MemoryHold, Room | undefined>();
  /** Those that nobody reads or writes at the moment, the least touched first. */
  #free: Room[] = [];
  /** Oldest decision that was turned away. */
  #waiting: MemoryHold | undefined;
  #cancelRelease: () => void = () => undefined;

  constructor(options: SharedMemoriesOptions) {
    this.#options = options;
  }

  /** Whether there is room for a decision to begin. One that has waited long goes before others. */
  hasRoom(hold: MemoryHold): boolean {
    const { budgetBytes, clock } = this.#options;
    const elder = this.#waiting;
    const isInTurn = elder === undefined || elder === hold || clock.nowMs() - elder.submittedMs < PATIENCE_MS;
    if (isInTurn && (this.#usedBytes === 0 || this.#usedBytes + hold.bytes <= budgetBytes)) return true;
    if (elder === undefined || hold.submittedMs < elder.submittedMs) this.#waiting = hold;
    return false;
  }

  begin(hold: MemoryHold): void {
    this.#holds.set(hold, undefined);
    if (this.#waiting === hold) this.#waiting = undefined;
  }

  /** @returns the decision's own, the same each time, for a document of any length */
  memoryOf(hold: MemoryHold): SharedArrayBuffer {
    const room = this.#holds.get(hold) ?? this.#take(hold.bytes);
    this.#holds.set(hold, room);
    return room.memory;
  }

  /** Only when no worker reads or writes its memory any more. */
  end(hold: MemoryHold): void {
    const room = this.#holds.get(hold);
    this.#holds.delete(hold);
    if (this.#waiting === hold) this.#waiting = undefined;
    if (room !== undefined) this.#free = [...this.#free, room].sort((a, b) => a.touchedBytes - b.touchedBytes);
    this.#drop(this.#options.budgetBytes - this.#usedBytes);
    this.#cancelRelease();
    this.#cancelRelease = this.#options.clock.after(RELEASE_AFTER_MS, () => this.#drop(KEPT_BYTES));
  }

  /** Free room of which so much has been touched, or as much of it as there is. */
  #take(bytes: number): Room {
    // None is enough: −1 takes the last, which is touched most.
    const enough = this.#free.findIndex(({ touchedBytes }) => touchedBytes >= bytes);
    const [free] = this.#free.splice(enough, 1);
    const memory = free?.memory ?? new SharedArrayBuffer(this.#options.largestBytes);
    return { memory, touchedBytes: Math.max(free?.touchedBytes ?? 0, bytes) };
  }

  get #usedBytes(): number {
    return [...this.#holds.keys()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #drop(keptBytes: number): void {
    let total = this.#free.reduce((sum, { touchedBytes }) => sum + touchedBytes, 0);
    while (total > keptBytes && this.#free.length > 0) total -= this.#free.pop()?.touchedBytes ?? 0;
  }
}
