// How long a hub asks to be left alone: `RateLimit` of Hugging Face, `Retry-After` of mirrors and of everybody else.

const SECOND_MS = 1000;

export interface PatienceHeaders {
  /** `"api";r=0;t=55`: seconds until the window ends. */
  readonly rateLimit: string | undefined;
  /** Seconds, or a date of HTTP. */
  readonly retryAfter: string | undefined;
}

/** @param nowMs since 1970 @returns undefined: it does not say */
export function readAskedPatience({ rateLimit, retryAfter }: PatienceHeaders, nowMs: number): number | undefined {
  const [, windowSeconds] = /(?:^|[;,\s])t=(\d{1,9})(?!\d)/.exec(rateLimit ?? '') ?? [];
  // The window is told in whole seconds, rounded to whichever side.
  const windowMs = windowSeconds === undefined ? undefined : (Number(windowSeconds) + 1) * SECOND_MS;
  const waits = [windowMs, readRetryAfter(retryAfter, nowMs)].filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function readRetryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * SECOND_MS;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(atMs - nowMs, 0);
}
