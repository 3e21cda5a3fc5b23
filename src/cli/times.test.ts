import { describe, expect, it } from 'vitest';
import { toInstant } from '../domain/instant.ts';
import { UsageError } from './command.ts';
import { parseExpiry, parseMoment, parsePast, parseSpan, toDay } from './times.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const HOUR_MS = 3_600_000;

describe('times', () => {
  it('are spans of minutes, hours, days and weeks', () => {
    expect(['90m', '12h', '30d', '2w', '0m'].map((given) => parseSpan(given, '--overlap'))).toEqual(
      [1.5, 12, 720, 336, 0].map((hours) => hours * HOUR_MS),
    );
  });

  it('lie ahead, behind, or at a date', () => {
    expect(parseExpiry('12h', NOW_MS)).toBe(NOW_MS + 12 * HOUR_MS);
    expect(parsePast('12h', '--from', NOW_MS)).toBe(NOW_MS - 12 * HOUR_MS);
    expect(parsePast('2026-11-21T12:00:00.000Z', '--from', 0)).toBe(NOW_MS);
    expect(parseMoment('2026-11-21', '--from')).toBe(NOW_MS - 12 * HOUR_MS);
  });

  it.each(['', 'soon', '1y', '1.5h', '-1d', '2026-13-01', '2026-02-31', '2026-11-21T12:00:00', '21.11.2026'])(
    'are refused as %j',
    (given) => {
      expect(() => parseExpiry(given, NOW_MS)).toThrow(UsageError);
      expect(() => parsePast(given, '--from', NOW_MS)).toThrow(UsageError);
      expect(() => parseMoment(given, '--from')).toThrow(UsageError);
      expect(() => parseSpan(given, '--overlap')).toThrow(UsageError);
    },
  );

  it('are written in UTC', () => {
    expect([toInstant(NOW_MS), toInstant(null), toDay(NOW_MS), toDay(null, 'never')]).toEqual([
      '2026-11-21T12:00:00.000Z',
      null,
      '2026-11-21',
      'never',
    ]);
  });
});
