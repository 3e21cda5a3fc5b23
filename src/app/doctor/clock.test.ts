// When a clock is wrong, and which of several others is named.

import { expect, it } from 'vitest';
import { lookAtClock } from './clock.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);

it('a clock with nothing beside it is told, and not judged', () => {
  expect(lookAtClock([], NOW_MS)).toMatchObject({
    state: 'note',
    text: expect.stringMatching(/^2026-11-22T12:00:00\.000Z; /),
  });
});

it('a clock that is a header’s second off is right', () => {
  expect(lookAtClock([{ owner: 'the upstream a', aheadMs: 1200 }], NOW_MS)).toMatchObject({
    state: 'ok',
    text: expect.stringContaining('1.2 s ahead of that of the upstream a'),
  });
});

it('a clock that is off is told by the one that differs most', () => {
  const others = [
    { owner: 'the database', aheadMs: -9000 },
    { owner: 'the upstream a', aheadMs: 6000 },
  ];
  expect(lookAtClock(others, NOW_MS)).toMatchObject({
    state: 'warn',
    text: expect.stringContaining('9.0 s behind that of the database'),
    remedy: expect.stringContaining('NTP'),
  });
});
