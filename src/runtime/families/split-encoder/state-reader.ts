// From windows to the keys and values of a document: what this worker has kept is taken from there, only the rest is
// encoded. Whoever reads gets a lease and releases it; whose memory it is, and which documents stay, is state-memory.ts's.

import type { SharedDocument, WindowKey } from '../../messages.ts';
import { freeArrays, type KeyValueLayout, type KeyValues } from './key-values.ts';
import type { SplitGraphs } from './split-graphs.ts';
import type { KeptWindow, Lease, StateMemory } from './state-memory.ts';
import { countTokens, keysOf, type Window } from './windows.ts';

interface StateReaderParts {
  readonly graphs: Pick<SplitGraphs, 'encodeWindow' | 'encodeWindowInto' | 'readsSharedMemory'>;
  readonly layout: KeyValueLayout;
  readonly memory: StateMemory;
}

interface ReadOptions {
  /** Encode all of it and keep nothing. */
  readonly isFresh?: boolean;
  /** In place of a run of `encode`, for a document of one window that is not kept. */
  readonly encodeOnly?: ((target: KeyValues) => Promise<void>) | undefined;
}

interface ReadState {
  readonly state: Lease;
  /** Those of its tokens that were not encoded. */
  readonly keptTokens: number;
}

/** `[windows]`: where each of them is kept. */
type KeptWindows = readonly (KeptWindow | undefined)[];

export class StateReader {
  readonly #graphs: StateReaderParts['graphs'];
  readonly #layout: KeyValueLayout;
  readonly #memory: StateMemory;
  #readsShared: Promise<boolean> | undefined;

  constructor({ graphs, layout, memory }: StateReaderParts) {
    [this.#graphs, this.#layout, this.#memory] = [graphs, layout, memory];
  }

  /** A document, from the tokens of its text. */
  async read(windows: readonly Window[], { isFresh = false, encodeOnly }: ReadOptions = {}): Promise<ReadState> {
    const known = isFresh ? undefined : this.#memory.find(windows);
    if (known !== undefined) return { state: known, keptTokens: countTokens(windows) };
    const kept = isFresh ? [] : this.#findEach(windows);
    try {
      const lent = isFresh
        ? this.#memory.lendBriefly(countTokens(windows), this.#layout)
        : this.#memory.lend(keysOf(windows), this.#layout);
      const state = await written(lent, (target) => this.#write(target, { windows, kept, encodeOnly }));
      releaseEach(kept);
      if (!isFresh) state.keep();
      return { state, keptTokens: countKept(windows, kept) };
    } finally {
      releaseEach(kept);
    }
  }

  /**
   * One that is encoded already, by whichever workers. It is kept here where there is room; else it is read where it lies, or,
   * where the library cannot, copied for the parts of one decision, which follow one another.
   */
  async readShared(document: SharedDocument): Promise<Lease> {
    const { windows } = document;
    const known = this.#memory.find(windows) ?? this.#memory.findLeft(windows);
    if (known !== undefined) return known;
    const keyValues = this.#viewShared(document);
    const isCopied = this.#memory.hasRoomToKeep(windows, this.#layout) || !(await this.readsSharedMemory());
    if (!isCopied) return borrowed(keyValues, this.#layout);
    const lent = this.#memory.lend(windows, this.#layout, { isPart: true });
    const state = await written(lent, async (target) => this.#layout.join([keyValues], target));
    state.keep();
    return state;
  }

  /** Several documents as one, the second after the first. */
  async join(documents: readonly Lease[]): Promise<Lease> {
    const parts = documents.map(({ keyValues }) => keyValues);
    const lent = this.#memory.lendBriefly(countTokens(parts), this.#layout);
    return written(lent, async (target) => this.#layout.join(parts, target));
  }

  /** Writes some windows of a document into their places there. @returns those of their tokens that were not encoded */
  async writeShare(windows: readonly Window[], document: SharedDocument): Promise<number> {
    const target = this.#viewShared(document);
    const [first] = windows;
    if (first === undefined) return 0;
    const before = document.windows.indexOf(first);
    const kept = this.#findEach(windows);
    try {
      await this.#writeWindows(target, countTokens(document.windows.slice(0, before)), { windows, kept });
      return countKept(windows, kept);
    } finally {
      releaseEach(kept);
    }
  }

  /** Whether documents that workers write together are read where they lie. */
  readsSharedMemory(): Promise<boolean> {
    this.#readsShared ??= this.#graphs.readsSharedMemory();
    return this.#readsShared;
  }

  /** Whether the document is kept as a whole. */
  knows(windows: readonly WindowKey[]): boolean {
    return this.#memory.has(windows);
  }

  /** Whether anything that is read can be found later. */
  get keepsAny(): boolean {
    return this.#memory.keepsAny;
  }

  async #write(
    target: KeyValues,
    {
      windows,
      kept,
      encodeOnly,
    }: { windows: readonly Window[]; kept: KeptWindows; encodeOnly: ReadOptions['encodeOnly'] },
  ): Promise<void> {
    const [only, ...more] = windows;
    if (only !== undefined && more.length === 0 && kept[0] === undefined) {
      return encodeOnly === undefined ? this.#graphs.encodeWindowInto(only, target) : encodeOnly(target);
    }
    await this.#writeWindows(target, 0, { windows, kept });
  }

  /** @param from first of their tokens in the target */
  async #writeWindows(
    target: KeyValues,
    from: number,
    { windows, kept }: { windows: readonly Window[]; kept: KeptWindows },
  ): Promise<void> {
    let to = from;
    for (const [place, window] of windows.entries()) {
      await this.#writeWindow(target, to, { window, kept: kept[place] });
      to += window.tokens;
    }
  }

  /**
   * Copies, never encodes into the target itself: on older Nodes the library refuses memory that other threads see.
   * @param to first of the window's tokens in the target
   */
  async #writeWindow(
    target: KeyValues,
    to: number,
    { window, kept }: { window: Window; kept: KeptWindow | undefined },
  ): Promise<void> {
    const { tokens } = window;
    if (kept !== undefined) {
      this.#layout.copy(kept.document.keyValues, target, { tokens, from: kept.from, to });
      return;
    }
    const encoded = await this.#graphs.encodeWindow(window);
    this.#layout.copy(encoded, target, { tokens, from: 0, to });
    freeArrays(encoded.parts);
  }

  /** @throws RangeError when its memory is too small */
  #viewShared({ windows, memory }: SharedDocument): KeyValues {
    const tokens = countTokens(windows);
    return this.#layout.view(new Float32Array(memory, 0, this.#layout.floats(tokens)), tokens);
  }

  #findEach(windows: readonly WindowKey[]): KeptWindows {
    return windows.map(({ key }) => this.#memory.findWindow(key));
  }
}

/** The lease once it is written; when that fails, nobody has it. */
async function written(lease: Lease, write: (target: KeyValues) => Promise<void>): Promise<Lease> {
  try {
    await write(lease.keyValues);
    return lease;
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** What others own and keep for as long as a task runs. */
function borrowed(keyValues: KeyValues, layout: KeyValueLayout): Lease {
  const nothing = () => undefined;
  return { keyValues, vector: () => layout.vectorOf(keyValues), keep: nothing, release: nothing };
}

function releaseEach(kept: KeptWindows): void {
  for (const window of kept) window?.document.release();
}

function countKept(windows: readonly Window[], kept: KeptWindows): number {
  return countTokens(windows.filter((_, place) => kept[place] !== undefined));
}
