// What a plot depends on beside its figures: the room it has and the theme.

import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** In CSS pixels; 0 before it is known. */
export function useElementWidth(element: RefObject<HTMLElement | null>): number {
  const [widthPx, setWidthPx] = useState(0);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidthPx(Math.floor(entry.contentRect.width));
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return widthPx;
}

/** @returns a number that is another one when the theme has changed */
export function useThemeTurns(): number {
  const [turns, setTurns] = useState(0);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const turn = (): void => setTurns((before) => before + 1);
    dark.addEventListener('change', turn);
    return () => dark.removeEventListener('change', turn);
  }, []);
  return turns;
}
