// One stretch of memory that is cut into places as they are asked for, first fit. Who has a place, and who goes when there
// is none, others say.

import { freeArrays } from './key-values.ts';

export interface Place {
  readonly memory: Float32Array;
  readonly start: number;
  readonly end: number;
}

export class Slab {
  readonly #floats: number;
  #memory: Float32Array | undefined;
  /** In the order of the memory. */
  readonly #places: Place[] = [];

  constructor(bytes: number) {
    this.#floats = Math.floor(bytes / Float32Array.BYTES_PER_ELEMENT);
  }

  /** @returns undefined where no gap is wide enough */
  take(floats: number): Place | undefined {
    const start = this.#findGap(this.#places, floats);
    if (start === undefined) return undefined;
    // Pages of it that nobody touches take no memory; workers without a decision model never ask.
    this.#memory ??= new Float32Array(this.#floats);
    const end = start + floats;
    const place = { memory: this.#memory.subarray(start, end), start, end };
    this.#places.push(place);
    this.#places.sort((a, b) => a.start - b.start);
    return place;
  }

  giveBack(place: Place): void {
    this.#places.splice(this.#places.indexOf(place), 1);
  }

  /** Whether there were room if of all places only these were taken. @param places in any order */
  hasRoomBeside(places: readonly Place[], floats: number): boolean {
    const sorted = [...places].sort((a, b) => a.start - b.start);
    return this.#findGap(sorted, floats) !== undefined;
  }

  /** Gives the memory back to the system, unless a place is taken. */
  freeIfEmpty(): void {
    if (this.#places.length > 0) return;
    if (this.#memory !== undefined) freeArrays([this.#memory]);
    this.#memory = undefined;
  }

  /** @param places in order @returns start of the first gap between them that is wide enough */
  #findGap(places: readonly Place[], floats: number): number | undefined {
    let start = 0;
    for (const place of places) {
      if (place.start - start >= floats) break;
      start = place.end;
    }
    return start + floats <= this.#floats ? start : undefined;
  }
}
