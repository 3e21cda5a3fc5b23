// What has to be closed again, last opened first, and the time that an end may take. Knows nothing of what is closed.

export class Closers {
  readonly #closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Last opened, first closed; the failure of one does not leave the others open. @throws the first failure */
  async closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.toReversed()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Opens one thing after the other; what was opened before a failure is closed again. @throws what `open` throws */
export async function openWith<T>(open: (closers: Closers) => Promise<T>): Promise<T> {
  const closers = new Closers();
  try {
    return await open(closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** Runs an action unless ended before. */
class GracePeriod {
  readonly #timer: NodeJS.Timeout;
  #isOver = false;

  constructor(periodMs: number, onOver: () => void) {
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      onOver();
    }, periodMs);
  }

  /** @returns whether it was still running */
  end(): boolean {
    clearTimeout(this.#timer);
    return !this.#isOver;
  }
}

/** @param onOver called when it takes longer. @returns whether it did not */
export async function closeWithin(periodMs: number, closers: Closers, onOver: () => void): Promise<boolean> {
  const grace = new GracePeriod(periodMs, onOver);
  await closers.closeAll();
  return grace.end();
}

export function once<T>(action: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= action();
    return running;
  };
}
