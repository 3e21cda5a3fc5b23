// Follows the feed of requests with its cursor, and keeps the last of what came. What was read stays while nobody looks.

import { type ReadonlySignal, signal } from '@preact/signals';
import { askAdmin } from './admin-api.ts';
import type { EndedRow, FeedReply } from './wire-types.ts';

const EVERY_MS = 1500;
const PAGE_ROWS = 200;
const KEPT_ROWS = 300;

export interface FeedState {
  /** The newest first. */
  readonly rows: readonly EndedRow[];
  /** Of the last reading; undefined: it went well. */
  readonly error: unknown;
  /** Whether requests were left out, because nobody asked for too long. */
  readonly hasGap: boolean;
  readonly hasRead: boolean;
}

export class FeedReader {
  readonly #state = signal<FeedState>({ rows: [], error: undefined, hasGap: false, hasRead: false });
  #cursor: string | undefined;

  get state(): ReadonlySignal<FeedState> {
    return this.#state;
  }

  /** @returns ends it */
  follow(): () => void {
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      const hasMore = document.hidden ? false : await this.#read(gone.signal);
      if (!gone.signal.aborted) timer = setTimeout(() => void read(), hasMore ? 0 : EVERY_MS);
    };
    void read();
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }

  /** @returns whether there is more already */
  async #read(abort: AbortSignal): Promise<boolean> {
    const from = this.#cursor === undefined ? '' : `&cursor=${encodeURIComponent(this.#cursor)}`;
    try {
      const reply = await askAdmin<FeedReply>(`/requests/feed?limit=${PAGE_ROWS}${from}`, { signal: abort });
      if (abort.aborted) return false;
      this.#cursor = reply.next_cursor;
      const rows = [...reply.data.toReversed(), ...this.#state.value.rows].slice(0, KEPT_ROWS);
      const hasGap = this.#state.value.hasGap || reply.has_gap;
      this.#state.value = { rows, error: undefined, hasGap, hasRead: true };
      return reply.has_more;
    } catch (error) {
      if (!abort.aborted) this.#state.value = { ...this.#state.value, error };
      return false;
    }
  }
}
