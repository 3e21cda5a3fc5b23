import { expect, it } from 'vitest';
import { formatDollars, formatDuration, formatNumber, formatPercent } from './figures.ts';

it.each([
  [0, '0.0 %'],
  [0.0004, '< 0.1 %'],
  [0.5, '50.0 %'],
  [0.9995, '> 99.9 %'],
  [1, '100.0 %'],
])('a share of %s is %s', (share, shown) => {
  expect(formatPercent(share)).toBe(shown);
});

it.each([
  [0.57, '0.6 ms'],
  [42.4, '42 ms'],
  [1300, '1.3 s'],
])('%s milliseconds are %s', (durationMs, shown) => {
  expect(formatDuration(durationMs)).toBe(shown);
});

it.each([
  [0, '$0'],
  [0.0000020034, '$0.0000020'],
  [0.5, '$0.50'],
  [12.345, '$12.35'],
])('%s dollars are %s', (dollars, shown) => {
  expect(formatDollars(dollars)).toBe(shown);
});

it('thousands are set apart', () => {
  expect(formatNumber(5000)).toBe('5,000');
});
