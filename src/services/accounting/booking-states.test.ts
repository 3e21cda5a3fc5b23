import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type BookingState, type Happening, nextState } from './booking-states.ts';

interface Row {
  readonly state: BookingState;
  readonly happening: Happening;
  readonly next: BookingState;
}

const FROM_THE_STORE = ['let in', 'turned away', 'store away', 'store waived'] as const;
const HAPPENINGS: readonly Happening[] = [
  ...FROM_THE_STORE,
  'answered before',
  'work done',
  'work failed',
  'row written',
  'reservation gone',
  'store silent',
];

/** The table of the file's comment, row by row. */
function readTable(): Row[] {
  const source = readFileSync(join(import.meta.dirname, 'booking-states.ts'), 'utf8');
  const rows: Row[] = [];
  let state = '';
  for (const line of source.split('\n').filter((text) => text.startsWith(' * | '))) {
    const [left = '', middle = '', right = ''] = line.slice(' * | '.length).split('|');
    state = quotedIn(left)[0] ?? state;
    const [next] = quotedIn(right);
    if (next === undefined) continue;
    const happenings = middle.includes('whatever the store says') ? FROM_THE_STORE : quotedIn(middle);
    for (const happening of happenings) rows.push({ state, happening, next } as Row);
  }
  return rows;
}

function quotedIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
}

describe('a booking', () => {
  const table = readTable();
  const states = [...new Set(table.flatMap(({ state, next }) => [state, next]))];

  it.each(table)('that is $state is $next once "$happening"', ({ state, happening, next }) => {
    expect(nextState(state, happening)).toBe(next);
  });

  it('knows no other way than those of its table', () => {
    expect(states).toHaveLength(14);
    for (const state of states) {
      for (const happening of HAPPENINGS) {
        if (table.some((row) => row.state === state && row.happening === happening)) continue;
        expect(() => nextState(state, happening), `${state}: ${happening}`).toThrow('has no');
      }
    }
  });

  it.each(['settled', 'unbilled', 'lost', 'owed', 'failed', 'dropped'] as const)(
    'that is %s is never closed again',
    (end) => {
      expect(() => nextState(end, 'work done')).toThrow();
      expect(() => nextState(end, 'work failed')).toThrow();
    },
  );
});
