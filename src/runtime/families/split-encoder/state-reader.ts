// From windows to the keys and values of a document: what this worker has kept is taken from there, only the rest is
// encoded. Owns when memory of a document is taken and given back; which documents stay is state-cache.ts's.

import type { EncodedShare, WindowKey } from '../../messages.ts';
import { freeArrays, type KeyValueLayout, type KeyValues } from './key-values.ts';
import { LentMemory } from './lent-memory.ts';
import { openShare, viewShare } from './shared-windows.ts';
import type { SplitGraphs, Window } from './split-graphs.ts';
import type { KeptDocument, KeptWindow, StateCache } from './state-cache.ts';
import { keyOfDocument } from './window-keys.ts';

export interface KeyedWindow extends Window, WindowKey {}

export interface StateReaderParts {
  readonly graphs: Pick<SplitGraphs, 'encodeWindow' | 'encodeWindowInto'>;
  readonly layout: KeyValueLayout;
  readonly cache: StateCache;
}

/** Memory of a document: a place in the cache, or memory of its own where there is no room. */
interface Room {
  readonly place: KeptDocument | undefined;
  readonly memory: Float32Array;
}

interface LentUse<T> {
  readonly tokens: number;
  readonly use: (state: KeyValues) => Promise<T>;
  /** What becomes of memory that is none of the cache's. */
  readonly giveBack: (memory: Float32Array) => void;
}

interface NewUse<T> extends Omit<LentUse<T>, 'tokens'> {
  readonly fill: (target: KeyValues) => Promise<void>;
  /** It is not to be found later. */
  readonly isFresh?: boolean;
}

/** Fills the target with the keys and values of a document's only window. @param isKept false: `read`'s `use` alone may need them */
type EncodeWhole = (window: Window, target: KeyValues, isKept: boolean) => Promise<void>;

export interface ReadOptions {
  /** Encode all of it and keep nothing. */
  readonly isFresh?: boolean;
  /** For a document of one window that is not known: in place of a run of `encode`. */
  readonly encodeWhole?: EncodeWhole | undefined;
}

interface Filling {
  readonly windows: readonly KeyedWindow[];
  /** `[windows]`: where each window is kept. */
  readonly sources: readonly (KeptWindow | undefined)[];
  readonly encodeWhole: NewUse<never>['fill'] | undefined;
}

export class StateReader {
  private readonly graphs: StateReaderParts['graphs'];
  private readonly layout: KeyValueLayout;
  private readonly cache: StateCache;
  private readonly lent = new LentMemory();

  constructor({ graphs, layout, cache }: StateReaderParts) {
    [this.graphs, this.layout, this.cache] = [graphs, layout, cache];
  }

  /** Whether the document is kept as a whole. */
  knows(windows: readonly WindowKey[]): boolean {
    return this.cache.has(windows);
  }

  /**
   * Reads a document for as long as `use` runs. @param use gets its keys and values, and how many of its tokens were kept
   */
  async read<T>(
    windows: readonly KeyedWindow[],
    use: (state: KeyValues, keptTokens: number) => Promise<T>,
    { isFresh = false, encodeWhole }: ReadOptions = {},
  ): Promise<T> {
    const known = isFresh ? undefined : this.cache.find(windows);
    if (known !== undefined) return this.useKept(known, (state) => use(state, state.tokens));
    const sources = windows.map(({ key }) => (isFresh ? undefined : this.cache.findWindow(key)));
    const [only] = windows;
    const isKept = !isFresh && this.cache.keepsAny;
    const whole = encodeWhole && only && ((target: KeyValues) => encodeWhole(only, target, isKept));
    const fill = async (target: KeyValues) => {
      try {
        await this.fill(target, { windows, sources, encodeWhole: whole });
      } finally {
        this.releaseAll(sources);
      }
    };
    const keptTokens = countTokens(windows.filter((_, place) => sources[place] !== undefined));
    return this.useNew(windows, { fill, use: (state) => use(state, keptTokens), giveBack: free, isFresh });
  }

  /** The same for a document that is encoded already, by whichever worker. Its parts follow one another. */
  async readShares<T>(shares: readonly EncodedShare[], use: (state: KeyValues) => Promise<T>): Promise<T> {
    const windows = shares.flatMap((share) => share.windows);
    const known = this.cache.find(windows);
    if (known !== undefined) return this.useKept(known, use);
    const key = keyOfDocument(windows);
    const lent = this.lent.take(key);
    const giveBack = (memory: Float32Array) => this.lent.put(key, memory);
    if (lent !== undefined) return this.useLent(lent, { use, giveBack, tokens: countTokens(windows) });
    const fill = async (target: KeyValues) => {
      const parts = shares.flatMap((share) => viewShare(share, this.layout));
      this.copyAll(parts, target);
    };
    return this.useNew(windows, { fill, use, giveBack });
  }

  /** Writes windows where all workers see them. @param memory used if it is large enough */
  async share(
    windows: readonly KeyedWindow[],
    memory: SharedArrayBuffer | undefined,
  ): Promise<{ share: EncodedShare; keptTokens: number }> {
    const keys = windows.map(({ tokens, key }) => ({ tokens, key }));
    const share = openShare(keys, this.layout, memory);
    const sources = windows.map(({ key }) => this.cache.findWindow(key));
    try {
      for (const [place, target] of viewShare(share, this.layout).entries()) {
        const [window, source] = [windows.slice(place, place + 1), sources.slice(place, place + 1)];
        await this.fill(target, { windows: window, sources: source, encodeWhole: undefined });
      }
    } finally {
      this.releaseAll(sources);
    }
    return { share, keptTokens: countTokens(windows.filter((_, place) => sources[place] !== undefined)) };
  }

  /** Several documents one after the other, in memory of their own for as long as `use` runs. */
  async join<T>(documents: readonly KeyValues[], use: (joined: KeyValues) => Promise<T>): Promise<T> {
    const tokens = countTokens(documents);
    const memory = new Float32Array(this.layout.floats(tokens));
    try {
      const joined = this.layout.view(memory, tokens);
      this.copyAll(documents, joined);
      return await use(joined);
    } finally {
      freeArrays([memory]);
    }
  }

  private async useKept<T>(document: KeptDocument, use: (state: KeyValues) => Promise<T>): Promise<T> {
    try {
      return await use(this.view(document));
    } finally {
      this.cache.release(document);
    }
  }

  private async useLent<T>(memory: Float32Array, { tokens, use, giveBack }: LentUse<T>): Promise<T> {
    try {
      return await use(this.layout.view(memory, tokens));
    } finally {
      giveBack(memory);
    }
  }

  private async useNew<T>(
    windows: readonly WindowKey[],
    { fill, use, giveBack, isFresh = false }: NewUse<T>,
  ): Promise<T> {
    const keys = windows.map(({ tokens, key }) => ({ tokens, key }));
    const tokens = countTokens(keys);
    let room = this.makeRoom(keys);
    try {
      await fill(this.layout.view(room.memory, tokens));
      // What was copied from may have been in the way, and no longer is.
      if (room.place === undefined) room = this.moveIn(keys, room);
      if (room.place !== undefined && !isFresh) this.cache.keep(room.place);
      return await use(this.layout.view(room.memory, tokens));
    } finally {
      if (room.place === undefined) giveBack(room.memory);
      else this.cache.release(room.place);
    }
  }

  private makeRoom(windows: readonly WindowKey[]): Room {
    const floats = this.layout.floats(countTokens(windows));
    const place = this.cache.reserve(windows, floats);
    return { place, memory: place?.memory ?? new Float32Array(floats) };
  }

  private moveIn(windows: readonly WindowKey[], room: Room): Room {
    const place = this.cache.reserve(windows, room.memory.length);
    if (place === undefined) return room;
    place.memory.set(room.memory);
    freeArrays([room.memory]);
    return { place, memory: place.memory };
  }

  private async fill(target: KeyValues, { windows, sources, encodeWhole }: Filling): Promise<void> {
    let to = 0;
    for (const [place, window] of windows.entries()) {
      const { tokens } = window;
      const source = sources[place];
      if (source !== undefined) {
        this.layout.copy(this.view(source.document), target, { tokens, from: source.from, to });
      } else if (tokens === target.tokens && !isShared(target)) {
        await (encodeWhole?.(target) ?? this.graphs.encodeWindowInto(window, target));
      } else {
        const encoded = await this.graphs.encodeWindow(window);
        this.layout.copy(encoded, target, { tokens, from: 0, to });
        freeArrays(encoded.parts);
      }
      to += tokens;
    }
  }

  /** One after the other, from the first token on. */
  private copyAll(parts: readonly KeyValues[], target: KeyValues): void {
    let to = 0;
    for (const part of parts) {
      this.layout.copy(part, target, { tokens: part.tokens, from: 0, to });
      to += part.tokens;
    }
  }

  private view({ windows, memory }: KeptDocument): KeyValues {
    return this.layout.view(memory, countTokens(windows));
  }

  private releaseAll(sources: readonly (KeptWindow | undefined)[]): void {
    for (const source of sources) if (source !== undefined) this.cache.release(source.document);
  }
}

function free(memory: Float32Array): void {
  freeArrays([memory]);
}

/** The library refuses memory that other threads see. */
function isShared({ parts }: KeyValues): boolean {
  return parts[0]?.buffer instanceof SharedArrayBuffer;
}

function countTokens(parts: readonly { readonly tokens: number }[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0);
}
