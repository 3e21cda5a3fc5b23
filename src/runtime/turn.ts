// Lets threads of one process do something one after the other. Blocks the waiting thread: for loading only.

const FREE = 0;
const TAKEN = 1;
/** A worker that died inside its turn must not hold up the others for ever. */
const PATIENCE_MS = 120_000;

/** @param shared one Int32, zero at first, shared by all threads that take turns */
export async function inTurn<T>(shared: SharedArrayBuffer, action: () => Promise<T>): Promise<T> {
  const turn = new Int32Array(shared);
  while (Atomics.compareExchange(turn, 0, FREE, TAKEN) !== FREE) {
    if (Atomics.wait(turn, 0, TAKEN, PATIENCE_MS) === 'timed-out') break;
  }
  try {
    return await action();
  } finally {
    Atomics.store(turn, 0, FREE);
    Atomics.notify(turn, 0);
  }
}
