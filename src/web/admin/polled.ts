// Something that the server is asked for again and again while it is looked at. What was there stays when an answer fails,
// with the failure beside it.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Polled<Value> {
  /** undefined: there is none yet. */
  readonly value: Value | undefined;
  /** Of the last attempt; undefined: it went well. */
  readonly error: unknown;
  /** Asks at once. */
  readonly refresh: () => void;
}

/**
 * @param load asked anew where it is another function; what was there is then shown no longer
 * @param everyMs undefined: once, and when `refresh` is called
 */
export function usePolled<Value>(load: (signal: AbortSignal) => Promise<Value>, everyMs?: number): Polled<Value> {
  const [answer, setAnswer] = useState<{ load: unknown; value?: Value; error?: unknown }>({ load });
  const [turn, setTurn] = useState(0);
  const lastLoad = useRef<unknown>(undefined);
  lastLoad.current = load;
  useEffect(() => {
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      try {
        // Nobody sees a page in the background.
        if (!document.hidden) {
          const value = await load(gone.signal);
          if (!gone.signal.aborted) setAnswer({ load, value });
        }
      } catch (error) {
        if (gone.signal.aborted) return;
        setAnswer((before) => ({
          load,
          error,
          ...(before.load === load && 'value' in before ? { value: before.value } : {}),
        }));
      }
      if (everyMs !== undefined && !gone.signal.aborted) timer = setTimeout(() => void ask(), everyMs);
    };
    void ask();
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [load, everyMs, turn]);
  const refresh = useCallback(() => setTurn((before) => before + 1), []);
  const isCurrent = answer.load === load;
  return { value: isCurrent ? answer.value : undefined, error: isCurrent ? answer.error : undefined, refresh };
}
