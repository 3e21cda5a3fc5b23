// Cuts token ids into slices that fit a window, at word boundaries where that leaves at least half a slice; and lists into
// shares. Pure.

/**
 * Consecutive slices of at most `size` ids; a slice that would end inside a word ends before that word, unless less than
 * half of `size` would remain. No ids, no slices. @param size at least 1 @returns views of `ids`
 */
export function cut(ids: Int32Array, size: number, isContinuation: (id: number) => boolean): Int32Array[] {
  const slices: Int32Array[] = [];
  let start = 0;
  while (start < ids.length) {
    const end = sliceEnd(ids, start, { size, isContinuation });
    slices.push(ids.subarray(start, end));
    start = end;
  }
  return slices;
}

function sliceEnd(
  ids: Int32Array,
  start: number,
  { size, isContinuation }: { size: number; isContinuation: (id: number) => boolean },
): number {
  const end = Math.min(start + size, ids.length);
  let word = end;
  while (word > start && word < ids.length && isContinuation(ids[word] ?? 0)) word--;
  return 2 * (word - start) >= size ? word : end;
}

/** Consecutive items, about as many as in each other share; all shares together are all items, however many of either. */
export function cutShare<T>(items: readonly T[], index: number, count: number): T[] {
  const bound = (at: number): number => Math.floor((at * items.length) / count);
  return items.slice(bound(index), bound(index + 1));
}
