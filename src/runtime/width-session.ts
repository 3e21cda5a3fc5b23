// One graph at two widths: with the threads of its worker, and with one on every core for a caller who is alone.

import { isDeepStrictEqual } from 'node:util';
import type { NativeAddon } from './native.ts';
import type { GraphSession } from './session.ts';

/** What binds this thread; absent: nothing can, and runs stay narrow. */
type Binding = Pick<NativeAddon, 'allowedCores' | 'bindThread' | 'unbindThread'>;

/** How wide the runs of one worker are, which does one task at a time. */
export class RunWidth {
  /** Of a wide run, one for each of its threads; the first is this thread's. None: there are no wide runs. */
  readonly cores: readonly number[];
  readonly #binding: Binding | undefined;
  #isWide = false;
  #isBarred = false;

  /**
   * @param most threads of a wide run: it wants as many cores, and no more where this process may run, or the system would
   * have to be asked which of them are free
   */
  constructor(most: number, binding: Binding | undefined) {
    const allowed = Array.from(binding?.allowedCores() ?? []);
    this.cores = most > 1 && allowed.length === most ? allowed : [];
    this.#binding = binding;
  }

  /** Whether runs can be wide at all. */
  get isAllowed(): boolean {
    return this.cores.length > 0 && !this.#isBarred;
  }

  get isWideNow(): boolean {
    return this.#isWide;
  }

  /** One task of this worker. @param isWide no other worker has anything to do */
  async during<T>(isWide: boolean, task: () => Promise<T>): Promise<T> {
    const [own] = this.cores;
    if (!isWide || !this.isAllowed || own === undefined || this.#binding?.bindThread(own) !== true) return await task();
    this.#isWide = true;
    try {
      return await task();
    } finally {
      this.#isWide = false;
      this.#binding.unbindThread();
    }
  }

  /**
   * The same request has the same answer to the bit, alone or not. How a host's kernels share a product among threads is
   * theirs: where it changes an answer, runs stay narrow from now on.
   * @param answer runs the model @returns whether both widths agree
   */
  async prove(answer: () => Promise<unknown>): Promise<boolean> {
    const narrow = await answer();
    this.#isBarred ||= !isDeepStrictEqual(await this.during(true, answer), narrow);
    return !this.#isBarred;
  }
}

export class WidthSession implements GraphSession {
  readonly #narrow: GraphSession;
  readonly #wide: GraphSession;
  readonly #width: RunWidth;

  constructor(narrow: GraphSession, wide: GraphSession, width: RunWidth) {
    [this.#narrow, this.#wide, this.#width] = [narrow, wide, width];
  }

  get outputs(): readonly string[] {
    return this.#narrow.outputs;
  }

  run(...asked: Parameters<GraphSession['run']>): ReturnType<GraphSession['run']> {
    return this.#chosen.run(...asked);
  }

  runInto(...asked: Parameters<GraphSession['runInto']>): ReturnType<GraphSession['runInto']> {
    return this.#chosen.runInto(...asked);
  }

  async close(): Promise<void> {
    await this.#narrow.close();
    await this.#wide.close();
  }

  get #chosen(): GraphSession {
    return this.#width.isWideNow ? this.#wide : this.#narrow;
  }
}
