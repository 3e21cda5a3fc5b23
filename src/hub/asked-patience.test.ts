import { describe, expect, it } from 'vitest';
import { readAskedPatience } from './asked-patience.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12, 0, 0);

describe('the patience that a hub asks for', () => {
  it.each([
    ['"api";r=0;t=55', undefined, 56_000],
    ['"pages";r=0;t=9, "api";r=0;t=0', undefined, 10_000],
    ['limit=10, remaining=0, t=3', undefined, 4000],
    [undefined, '7', 7000],
    [undefined, 'Sun, 22 Nov 2026 12:01:30 GMT', 90_000],
    [undefined, 'Sun, 22 Nov 2026 11:00:00 GMT', 0],
    ['"api";r=0;t=5', '60', 60_000],
    ['nonsense', 'soon', undefined],
    ['"api";r=0;t=99999999999999999999', '', undefined],
    [undefined, undefined, undefined],
  ])('RateLimit %j, Retry-After %j: %j ms', (rateLimit, retryAfter, waitMs) => {
    expect(readAskedPatience({ rateLimit, retryAfter }, NOW_MS)).toBe(waitMs);
  });
});
