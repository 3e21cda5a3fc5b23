// The memory of one document that has no room in the cache, between two parts of a decision about it: joined once, not
// once for every part. Who takes it owns it until he puts it back.

import { freeArrays } from './key-values.ts';

/** Parts of one decision come sooner than this one after the other, unless much else is waiting. */
const PATIENCE_MS = 250;

export class LentMemory {
  private held: { readonly key: string; readonly memory: Float32Array } | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @returns the memory of this document if it is here; that of any other is freed */
  take(key: string): Float32Array | undefined {
    const { held } = this;
    if (held?.key !== key) {
      this.drop();
      return undefined;
    }
    clearTimeout(this.timer);
    this.held = undefined;
    return held.memory;
  }

  /** To be taken again within a quarter of a second, else freed. */
  put(key: string, memory: Float32Array): void {
    this.drop();
    this.held = { key, memory };
    this.timer = setTimeout(() => this.drop(), PATIENCE_MS);
    this.timer.unref();
  }

  private drop(): void {
    clearTimeout(this.timer);
    if (this.held !== undefined) freeArrays([this.held.memory]);
    this.held = undefined;
  }
}
