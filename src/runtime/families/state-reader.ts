// From windows to the keys and values of a document: what this worker has kept is taken from there, only the rest is
// encoded. Owns when memory of a document is taken and given back; which documents stay is state-cache.ts's.

import type { EncodedShare, WindowKey } from '../messages.ts';
import { freeArrays, type KeyValueLayout, type KeyValues } from './key-values.ts';
import { openShare, viewShare } from './shared-windows.ts';
import type { SplitGraphs, Window } from './split-graphs.ts';
import type { KeptDocument, KeptWindow, StateCache } from './state-cache.ts';

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

type Fill = (target: KeyValues) => Promise<void>;

export class StateReader {
  private readonly graphs: StateReaderParts['graphs'];
  private readonly layout: KeyValueLayout;
  private readonly cache: StateCache;

  constructor({ graphs, layout, cache }: StateReaderParts) {
    [this.graphs, this.layout, this.cache] = [graphs, layout, cache];
  }

  /**
   * Reads a document for as long as `use` runs. @param use gets its keys and values, and how many of its tokens were kept
   * @param isFresh encode all of it and keep nothing
   */
  async read<T>(
    windows: readonly KeyedWindow[],
    use: (state: KeyValues, keptTokens: number) => Promise<T>,
    isFresh = false,
  ): Promise<T> {
    const known = isFresh ? undefined : this.cache.find(windows);
    if (known !== undefined) return this.useKept(known, (state) => use(state, state.tokens));
    const sources = windows.map(({ key }) => (isFresh ? undefined : this.cache.findWindow(key)));
    const fill = async (target: KeyValues) => {
      try {
        await this.fill(target, windows, sources);
      } finally {
        this.releaseAll(sources);
      }
    };
    const keptTokens = countTokens(windows.filter((_, place) => sources[place] !== undefined));
    return this.useNew(windows, { fill, use: (state) => use(state, keptTokens), isFresh });
  }

  /** The same for a document that is encoded already, by whichever worker. */
  async readShares<T>(shares: readonly EncodedShare[], use: (state: KeyValues) => Promise<T>): Promise<T> {
    const windows = shares.flatMap((share) => share.windows);
    const known = this.cache.find(windows);
    if (known !== undefined) return this.useKept(known, use);
    const fill = async (target: KeyValues) => {
      let to = 0;
      for (const window of shares.flatMap((share) => viewShare(share, this.layout))) {
        this.layout.copy(window, target, { tokens: window.tokens, from: 0, to });
        to += window.tokens;
      }
    };
    return this.useNew(windows, { fill, use, isFresh: false });
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
        await this.fill(target, windows.slice(place, place + 1), sources.slice(place, place + 1));
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
      let to = 0;
      for (const document of documents) {
        this.layout.copy(document, joined, { tokens: document.tokens, from: 0, to });
        to += document.tokens;
      }
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

  private async useNew<T>(
    windows: readonly WindowKey[],
    { fill, use, isFresh }: { fill: Fill; use: (state: KeyValues) => Promise<T>; isFresh: boolean },
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
      if (room.place === undefined) freeArrays([room.memory]);
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

  /** @param sources `[windows]`: where each window is kept */
  private async fill(
    target: KeyValues,
    windows: readonly KeyedWindow[],
    sources: readonly (KeptWindow | undefined)[],
  ): Promise<void> {
    let to = 0;
    for (const [place, window] of windows.entries()) {
      const { tokens } = window;
      const source = sources[place];
      if (source !== undefined) {
        this.layout.copy(this.view(source.document), target, { tokens, from: source.from, to });
      } else if (tokens === target.tokens && !isShared(target)) {
        await this.graphs.encodeWindowInto(window, target);
      } else {
        const encoded = await this.graphs.encodeWindow(window);
        this.layout.copy(encoded, target, { tokens, from: 0, to });
        freeArrays(encoded.parts);
      }
      to += tokens;
    }
  }

  private view({ windows, memory }: KeptDocument): KeyValues {
    return this.layout.view(memory, countTokens(windows));
  }

  private releaseAll(sources: readonly (KeptWindow | undefined)[]): void {
    for (const source of sources) if (source !== undefined) this.cache.release(source.document);
  }
}

/** The library refuses memory that other threads see. */
function isShared({ parts }: KeyValues): boolean {
  return parts[0]?.buffer instanceof SharedArrayBuffer;
}

function countTokens(parts: readonly { readonly tokens: number }[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0);
}
