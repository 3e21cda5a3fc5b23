// A worker that has nothing to do gives memory back, once each time and never inside a task. What it gives back others say.

/** The next task may pay for what was given back with a millisecond or two: not worth it between two that follow closely. */
const QUIET_MS = 1000;

/**
 * @param perform one task at a time
 * @param rest called when no task has come for a while, for the first time after the load
 * @returns the same as `perform`
 */
export function restWhenIdle<Task, Reply>(
  perform: (task: Task) => Promise<Reply>,
  rest: () => void,
): (task: Task) => Promise<Reply> {
  const wait = () => setTimeout(rest, QUIET_MS).unref();
  let timer = wait();
  return async (task) => {
    clearTimeout(timer);
    try {
      return await perform(task);
    } finally {
      timer = wait();
    }
  };
}
