// The one owner of memory for keys and values in a thread. It lends room for a document, finds what is kept, and decides
// who goes when room is needed. What is written there is state-reader.ts's.

import type { WindowKey } from '../../messages.ts';
import { freeArrays, type KeyValueLayout, type KeyValues } from './key-values.ts';
import { type Place, Slab } from './slab.ts';
import { countTokens, keyOfDocument } from './windows.ts';

/** Parts of one decision come sooner than this one after the other, unless much else is waiting. */
const LEFT_MS = 250;

interface StateMemoryOptions {
  /** Of all kept documents together; 0: nothing is kept. */
  readonly keptBytes: number;
  /** Where nothing is kept, documents up to this size are still put together in memory that stays while there is work. */
  readonly scratchBytes: number;
}

/** Keys and values in this thread's memory, the holder's to use until they are released. */
export interface Lease {
  /** Views of it, made anew each time: what is kept may move. */
  readonly keyValues: KeyValues;
  /** The document's vector (`KeyValueLayout.vectorOf`), once all of it is written. */
  vector(): Float32Array;
  /** All of it is written: whoever asks for the same document finds it from now on, if there is room to keep it. */
  keep(): void;
  /** The holder reads and writes it no more. A second time is nothing. */
  release(): void;
}

/** A window that is part of a kept document. */
export interface KeptWindow {
  readonly document: Lease;
  /** First of its tokens in the document. */
  readonly from: number;
}

interface StoredDocument {
  readonly key: string;
  readonly windows: readonly WindowKey[];
  /** Not kept, it is still left for the next part of its decision. */
  readonly isPart: boolean;
  /** In the slab; undefined: its memory is its own. */
  place: Place | undefined;
  readonly layout: KeyValueLayout;
  memory: Float32Array;
  /** Once it was asked for. */
  vector: Float32Array | undefined;
  isWritten: boolean;
  /** Whether anybody finds it. */
  isKept: boolean;
  holders: number;
}

export class StateMemory {
  /** Whether a document can be found later at all. */
  readonly keepsAny: boolean;
  readonly #slab: Slab;
  readonly #held = new Set<StoredDocument>();
  /** By key, the least recently used first. */
  readonly #kept = new Map<string, StoredDocument>();
  /** By key of the window, in the document that was kept last. */
  readonly #keptWindows = new Map<string, { readonly document: StoredDocument; readonly from: number }>();
  /** A document that is not kept, after one part of its decision. */
  #left: StoredDocument | undefined;
  #leftTimer: NodeJS.Timeout | undefined;

  constructor({ keptBytes, scratchBytes }: StateMemoryOptions) {
    this.keepsAny = keptBytes > 0;
    this.#slab = new Slab(this.keepsAny ? keptBytes : scratchBytes);
  }

  has(windows: readonly WindowKey[]): boolean {
    return this.keepsAny && this.#kept.has(keyOfDocument(windows));
  }

  /** The kept document of these windows. */
  find(windows: readonly WindowKey[]): Lease | undefined {
    const document = this.#kept.get(keyOfDocument(windows));
    return document && this.#lease(this.#touched(document));
  }

  /** A kept document with this window in it. */
  findWindow(key: string): KeptWindow | undefined {
    const found = this.#keptWindows.get(key);
    return found && { document: this.#lease(this.#touched(found.document)), from: found.from };
  }

  /** The document of these windows, where it is not kept and another part of its decision has just left it. */
  findLeft(windows: readonly WindowKey[]): Lease | undefined {
    const left = this.#left;
    if (left === undefined || left.key !== keyOfDocument(windows)) return undefined;
    clearTimeout(this.#leftTimer);
    this.#left = undefined;
    return this.#lease(left);
  }

  /**
   * Room for a document. For it may go whatever is kept and nobody holds, the least recently used first; where that is
   * not enough, nothing goes, and the document has memory of its own.
   */
  lend(windows: readonly WindowKey[], layout: KeyValueLayout, { isPart = false } = {}): Lease {
    if (isPart) this.#dropLeft();
    const place = this.#makeRoom(layout.floats(countTokens(windows)));
    return this.#open({ key: keyOfDocument(windows), windows, isPart }, layout, place);
  }

  /** Whether a document would be kept if it were written now. */
  hasRoomToKeep(windows: readonly WindowKey[], layout: KeyValueLayout): boolean {
    return this.keepsAny && this.#hasRoom(layout.floats(countTokens(windows)));
  }

  /** Room for what nobody will ask for again. Nothing that is kept goes for it. */
  lendBriefly(tokens: number, layout: KeyValueLayout): Lease {
    const place = this.#slab.take(layout.floats(tokens));
    return this.#open({ key: '', windows: [{ key: '', tokens }], isPart: false }, layout, place);
  }

  /** Nobody has asked for anything for a while: memory in which nothing is kept goes back to the system. */
  rest(): void {
    this.#dropLeft();
    this.#slab.freeIfEmpty();
  }

  #open(
    document: Pick<StoredDocument, 'key' | 'windows' | 'isPart'>,
    layout: KeyValueLayout,
    place: Place | undefined,
  ): Lease {
    const memory = place?.memory ?? new Float32Array(layout.floats(countTokens(document.windows)));
    const state = { place, memory, vector: undefined, isWritten: false, isKept: false, holders: 0 };
    return this.#lease({ ...document, layout, ...state });
  }

  #lease(document: StoredDocument): Lease {
    document.holders++;
    this.#held.add(document);
    let isHeld = true;
    const keyValues = (): KeyValues => document.layout.view(document.memory, countTokens(document.windows));
    return {
      get keyValues() {
        return keyValues();
      },
      vector: () => {
        document.vector ??= document.layout.vectorOf(keyValues());
        return document.vector;
      },
      keep: () => this.#keep(document),
      release: () => {
        if (isHeld) this.#release(document);
        isHeld = false;
      },
    };
  }

  #keep(document: StoredDocument): void {
    document.isWritten = true;
    if (!this.keepsAny || document.isKept || !this.#moveIn(document)) return;
    const older = this.#kept.get(document.key);
    if (older !== undefined) this.#forget(older);
    document.isKept = true;
    this.#kept.set(document.key, document);
    let from = 0;
    for (const { key, tokens } of document.windows) {
      this.#keptWindows.set(key, { document, from });
      from += tokens;
    }
  }

  #release(document: StoredDocument): void {
    document.holders--;
    if (document.holders > 0) return;
    this.#held.delete(document);
    if (document.isKept) return;
    if (document.isPart && document.isWritten) this.#leave(document);
    else this.#free(document);
  }

  #leave(document: StoredDocument): void {
    this.#dropLeft();
    this.#left = document;
    this.#leftTimer = setTimeout(() => this.#dropLeft(), LEFT_MS).unref();
  }

  /** What it was copied from may have been in the way, and no longer is. @returns whether it has a place */
  #moveIn(document: StoredDocument): boolean {
    if (document.place !== undefined) return true;
    const place = this.#makeRoom(document.memory.length);
    if (place === undefined) return false;
    place.memory.set(document.memory);
    freeArrays([document.memory]);
    [document.place, document.memory] = [place, place.memory];
    return true;
  }

  #makeRoom(floats: number): Place | undefined {
    if (!this.#hasRoom(floats)) return undefined;
    let place = this.#slab.take(floats);
    if (place === undefined) this.#dropLeft();
    for (const document of this.#kept.values()) {
      place ??= this.#slab.take(floats);
      if (place !== undefined) break;
      if (document.holders === 0) this.#forget(document);
    }
    return place ?? this.#slab.take(floats);
  }

  /** Once all goes that nobody holds. */
  #hasRoom(floats: number): boolean {
    const held = [...this.#held].flatMap(({ place }) => place ?? []);
    return this.#slab.hasRoomBeside(held, floats);
  }

  #touched(document: StoredDocument): StoredDocument {
    this.#kept.delete(document.key);
    this.#kept.set(document.key, document);
    return document;
  }

  #forget(document: StoredDocument): void {
    const { key, windows, holders } = document;
    this.#kept.delete(key);
    for (const window of windows) {
      if (this.#keptWindows.get(window.key)?.document === document) this.#keptWindows.delete(window.key);
    }
    document.isKept = false;
    if (holders === 0) this.#free(document);
  }

  #dropLeft(): void {
    clearTimeout(this.#leftTimer);
    if (this.#left !== undefined) this.#free(this.#left);
    this.#left = undefined;
  }

  #free({ place, memory }: StoredDocument): void {
    if (place === undefined) freeArrays([memory]);
    else this.#slab.giveBack(place);
  }
}
