// Which documents a worker keeps: one slab of memory, who lies where in it, and who goes when room is needed. A document
// is some floats and the windows it is made of; models and layouts are no business of this file.

import type { WindowKey } from '../../messages.ts';
import { freeArrays } from './key-values.ts';
import { keyOfDocument } from './window-keys.ts';

/** Where nothing is kept, documents up to this size are still joined in memory that stays: 640 tokens of `kev`. */
const SCRATCH_BYTES = 12 * 1024 * 1024;

/** A document's place in the slab. */
export interface KeptDocument {
  readonly windows: readonly WindowKey[];
  readonly memory: Float32Array;
}

/** A window that is part of a kept document. */
export interface KeptWindow {
  readonly document: KeptDocument;
  /** First of its tokens in the document. */
  readonly from: number;
}

interface Place extends KeptDocument {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  /** Whether it can be found. */
  isKept: boolean;
  pins: number;
}

export class StateCache {
  private readonly slabFloats: number;
  /** Whether a document can be found later at all. */
  readonly keepsAny: boolean;
  private slab: Float32Array | undefined;
  /** In the order of the slab. */
  private places: Place[] = [];
  /** Kept documents by key, the least recently used first. */
  private readonly documents = new Map<string, Place>();
  /** By key of the window, in the document that was kept last. */
  private readonly windows = new Map<string, { readonly document: Place; readonly from: number }>();

  /** @param bytes of all documents together; 0: nothing is kept, and the slab is no more than a place to work in */
  constructor(bytes: number) {
    this.keepsAny = bytes > 0;
    this.slabFloats = Math.floor((this.keepsAny ? bytes : SCRATCH_BYTES) / Float32Array.BYTES_PER_ELEMENT);
  }

  has(windows: readonly WindowKey[]): boolean {
    return this.keepsAny && this.documents.has(keyOfDocument(windows));
  }

  /** The document of these windows, pinned: to be released. */
  find(windows: readonly WindowKey[]): KeptDocument | undefined {
    const place = this.documents.get(keyOfDocument(windows));
    if (place === undefined) return undefined;
    this.touch(place);
    place.pins++;
    return place;
  }

  /** A document with this window in it, pinned: to be released. */
  findWindow(key: string): KeptWindow | undefined {
    const found = this.windows.get(key);
    if (found === undefined) return undefined;
    this.touch(found.document);
    found.document.pins++;
    return found;
  }

  /**
   * Room for a document, pinned: to be released. Whatever is not pinned goes for it, the least recently used first.
   * @returns undefined when it cannot fit; nothing has gone then
   */
  reserve(windows: readonly WindowKey[], floats: number): KeptDocument | undefined {
    const start = this.makeRoom(floats);
    if (start === undefined) return undefined;
    // Untouched pages of it take no memory; workers without a decision model never ask.
    this.slab ??= new Float32Array(this.slabFloats);
    const end = start + floats;
    const memory = this.slab.subarray(start, end);
    const place: Place = { windows, memory, key: keyOfDocument(windows), start, end, isKept: false, pins: 1 };
    this.places.splice(this.indexAfter(start), 0, place);
    return place;
  }

  /** From now on the document is found. To be called when its memory is filled, by whoever reserved it. */
  keep(document: KeptDocument): void {
    const place = document as Place;
    if (!this.keepsAny) return;
    const older = this.documents.get(place.key);
    if (older !== undefined) this.forget(older);
    place.isKept = true;
    this.documents.set(place.key, place);
    let from = 0;
    for (const { key, tokens } of place.windows) {
      this.windows.set(key, { document: place, from });
      from += tokens;
    }
  }

  /** The caller reads and writes it no more. */
  release(document: KeptDocument): void {
    const place = document as Place;
    place.pins--;
    if (place.pins === 0 && !place.isKept) this.vacate(place);
  }

  /** Forgets every document. The memory is given back, unless some of it is in use. */
  clear(): void {
    for (const place of this.documents.values()) this.forget(place);
    if (this.places.length > 0 || this.slab === undefined) return;
    freeArrays([this.slab]);
    this.slab = undefined;
  }

  private touch(place: Place): void {
    this.documents.delete(place.key);
    this.documents.set(place.key, place);
  }

  /** @returns start of a gap of so many floats */
  private makeRoom(floats: number): number | undefined {
    const pinned = this.places.filter(({ pins }) => pins > 0);
    if (this.findGap(pinned, floats) === undefined) return undefined;
    let start = this.findGap(this.places, floats);
    for (const place of this.documents.values()) {
      if (start !== undefined) break;
      if (place.pins === 0) start = this.evict(place, floats);
    }
    return start;
  }

  /** First fit. @param places in order @returns start of a gap between them */
  private findGap(places: readonly Place[], floats: number): number | undefined {
    let start = 0;
    for (const place of places) {
      if (place.start - start >= floats) break;
      start = place.end;
    }
    return start + floats <= this.slabFloats ? start : undefined;
  }

  /** @returns start of the gap that it leaves, when that is large enough */
  private evict(place: Place, floats: number): number | undefined {
    this.forget(place);
    const next = this.indexAfter(place.start);
    const start = this.places[next - 1]?.end ?? 0;
    const end = this.places[next]?.start ?? this.slabFloats;
    return end - start >= floats ? start : undefined;
  }

  private forget(place: Place): void {
    this.documents.delete(place.key);
    for (const { key } of place.windows) if (this.windows.get(key)?.document === place) this.windows.delete(key);
    place.isKept = false;
    if (place.pins === 0) this.vacate(place);
  }

  private vacate(place: Place): void {
    this.places.splice(this.indexAfter(place.start) - 1, 1);
  }

  /** Number of places that start at or before this float. */
  private indexAfter(start: number): number {
    let [low, high] = [0, this.places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.places[middle]?.start ?? 0) <= start) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
