// Counts of the last 60 seconds, out of two counts: of this minute of the clock, and of the one before, of which the share
// counts that still lies within the 60 seconds. All in integers, so that what is refused and when it passes are exact.

import type { LimitStanding } from './ledger.ts';

export interface MinuteWindow {
  /** Start of the minute that `…Now` counts; `…Before` counts the one before it. */
  readonly startMs: number;
  readonly requestsNow: number;
  readonly requestsBefore: number;
  readonly tokensNow: number;
  readonly tokensBefore: number;
}

export type RateUnit = 'requests' | 'tokens';

export interface Wanted {
  readonly limit: number;
  readonly amount: number;
  readonly nowMs: number;
}

const MINUTE_MS = 60_000;

export const NEW_WINDOW: MinuteWindow = {
  startMs: 0,
  requestsNow: 0,
  requestsBefore: 0,
  tokensNow: 0,
  tokensBefore: 0,
};

/**
 * The window as it is at `nowMs`. Clocks of several servers differ a little: a time before the window counts as its start.
 * Where it lies further back a clock was wrong, and the window begins anew rather than refuse until that time comes.
 */
export function advance(window: MinuteWindow, nowMs: number): MinuteWindow {
  const startMs = minuteOf(nowMs);
  const minutes = (startMs - window.startMs) / MINUTE_MS;
  if (minutes === 0 || (minutes < 0 && window.startMs - nowMs <= MINUTE_MS)) return window;
  if (minutes !== 1) return { ...NEW_WINDOW, startMs };
  return {
    startMs,
    requestsNow: 0,
    requestsBefore: window.requestsNow,
    tokensNow: 0,
    tokensBefore: window.tokensNow,
  };
}

/** @param window advanced to `nowMs` */
export function fits(window: MinuteWindow, unit: RateUnit, { limit, amount, nowMs }: Wanted): boolean {
  return usedTimesMinute(window, unit, nowMs) + amount * MINUTE_MS <= limit * MINUTE_MS;
}

/**
 * Until `amount` fits if nothing else is let in: to the millisecond.
 * @param window advanced to `nowMs`
 * @returns null: it never will
 */
export function waitMs(window: MinuteWindow, unit: RateUnit, { limit, amount, nowMs }: Wanted): number | null {
  if (amount > limit) return null;
  const { now, before } = countsOf(window, unit);
  const elapsedMs = elapsedOf(window, nowMs);
  // Within this minute: until enough of the one before has left.
  if (now + amount <= limit) return Math.max(0, elapsedToFit(before, limit - now - amount) - elapsedMs);
  // In the next: this minute is then the one before.
  return MINUTE_MS - elapsedMs + elapsedToFit(now, limit - amount);
}

/** @param window advanced to `nowMs` */
export function rateStanding(
  window: MinuteWindow,
  unit: RateUnit,
  { limit, nowMs }: Omit<Wanted, 'amount'>,
): Required<LimitStanding> {
  const { now, before } = countsOf(window, unit);
  const free = Math.floor((limit * MINUTE_MS - usedTimesMinute(window, unit, nowMs)) / MINUTE_MS);
  const untilNextMs = MINUTE_MS - elapsedOf(window, nowMs);
  const resetMs = now > 0 ? untilNextMs + MINUTE_MS : before > 0 ? untilNextMs : 0;
  return { limit, remaining: Math.max(0, free), resetMs };
}

/** Corrects the count of the minute in which a request was accepted; nothing, if that is past. */
export function moveTokens(window: MinuteWindow, acceptedAtMs: number, tokens: number): MinuteWindow {
  const place = placeOf(window, acceptedAtMs);
  if (place === 'now') return { ...window, tokensNow: Math.max(0, window.tokensNow + tokens) };
  if (place === 'before') return { ...window, tokensBefore: Math.max(0, window.tokensBefore + tokens) };
  return window;
}

/** Takes a request back. */
export function withdraw(window: MinuteWindow, acceptedAtMs: number, tokens: number): MinuteWindow {
  const moved = moveTokens(window, acceptedAtMs, -tokens);
  const place = placeOf(window, acceptedAtMs);
  if (place === 'now') return { ...moved, requestsNow: Math.max(0, moved.requestsNow - 1) };
  if (place === 'before') return { ...moved, requestsBefore: Math.max(0, moved.requestsBefore - 1) };
  return moved;
}

function placeOf(window: MinuteWindow, acceptedAtMs: number): 'now' | 'before' | undefined {
  const startMs = minuteOf(acceptedAtMs);
  if (startMs === window.startMs) return 'now';
  return startMs === window.startMs - MINUTE_MS ? 'before' : undefined;
}

function minuteOf(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
}

/** Below 0 for a clock that is behind. */
function elapsedOf(window: MinuteWindow, nowMs: number): number {
  return nowMs - window.startMs;
}

function countsOf(window: MinuteWindow, unit: RateUnit): { readonly now: number; readonly before: number } {
  return unit === 'requests'
    ? { now: window.requestsNow, before: window.requestsBefore }
    : { now: window.tokensNow, before: window.tokensBefore };
}

/** The used amount × 60,000, which is an integer. */
function usedTimesMinute(window: MinuteWindow, unit: RateUnit, nowMs: number): number {
  const { now, before } = countsOf(window, unit);
  return now * MINUTE_MS + before * (MINUTE_MS - Math.max(0, elapsedOf(window, nowMs)));
}

/** How much of a minute must have passed until no more than `free` counts of the `before` of the minute before it. */
function elapsedToFit(before: number, free: number): number {
  if (before <= free) return 0;
  return MINUTE_MS - Math.floor((free * MINUTE_MS) / before);
}
