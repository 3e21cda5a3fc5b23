// One run that several callers wait for. Each may leave by itself; the run is given up when the last one leaves. What
// runs, and what becomes of the result, its owner knows.

interface Waiter<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal;
  readonly leave: () => void;
}

/** Callers of one run, from the first to the last. */
export class SharedRun<Result> {
  /** Within which the caller that began it wants the answer. */
  readonly deadlineMs: number | undefined;
  /** Of all callers together. */
  readonly #everybody: AbortController;
  readonly #waiters = new Set<Waiter<Result>>();
  #staying = 0;

  /** @param everybody aborted when nobody waits any more */
  constructor(everybody: AbortController, deadlineMs: number | undefined) {
    this.#everybody = everybody;
    this.deadlineMs = deadlineMs;
  }

  /** Whether it goes on: somebody waits for it. */
  get isWanted(): boolean {
    return this.#staying > 0;
  }

  /**
   * Rejects with the signal's reason when the caller leaves while others stay. The last one leaves as the run does: its
   * promise rejects when the run was not begun, and resolves when it was, for the work is done then.
   */
  wait(signal: AbortSignal): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const waiter: Waiter<Result> = { resolve, reject, signal, leave: () => this.#leave(waiter) };
    this.#staying += 1;
    this.#waiters.add(waiter);
    if (signal.aborted) waiter.leave();
    else signal.addEventListener('abort', waiter.leave, { once: true });
    return promise;
  }

  end(result: Result): void {
    for (const { resolve, signal, leave } of this.#waiters) {
      signal.removeEventListener('abort', leave);
      resolve(result);
    }
  }

  fail(error: unknown): void {
    for (const { reject, signal, leave } of this.#waiters) {
      signal.removeEventListener('abort', leave);
      reject(error);
    }
  }

  #leave(waiter: Waiter<Result>): void {
    this.#staying -= 1;
    if (this.#staying === 0) {
      this.#everybody.abort(waiter.signal.reason);
      return;
    }
    this.#waiters.delete(waiter);
    waiter.reject(waiter.signal.reason);
  }
}
