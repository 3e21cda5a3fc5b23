// Moments in bodies and queries: those of RFC 3339, or a date, which is its midnight in UTC. In replies always UTC
// (domain/instant.ts).

import { z } from 'zod';

const INSTANT = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,30})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;
const LEAP_SECOND = /(T\d{2}:59):60/;
/** Later moments have no date with four digits of year. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** @param where `field` or `parameter` */
export function instantField(name: string, where: 'field' | 'parameter' = 'field') {
  const message = `The ${where} '${name}' must be a date or a moment with a zone, such as 2027-01-31T12:00:00Z.`;
  return z
    .string(message)
    .transform((text, context) => {
      const atMs = findInstantMs(text);
      // Whoever asks for everything may ask from any year on; nothing here is older than its clock.
      if (atMs !== undefined) return where === 'parameter' ? Math.max(0, atMs) : atMs;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ type: 'string', format: 'date-time' });
}

/** Milliseconds since the epoch; undefined for days that no calendar has. */
function findInstantMs(given: string): number | undefined {
  // RFC 3339 takes small letters too, and seconds that were put in: the one after counts instead.
  const text = given.toUpperCase();
  const isLeapSecond = LEAP_SECOND.test(text);
  const day = INSTANT.exec(text)?.[1];
  const atMs = Date.parse(isLeapSecond ? text.replace(LEAP_SECOND, '$1:59') : text) + (isLeapSecond ? 1000 : 0);
  if (day === undefined || Number.isNaN(atMs) || atMs > LAST_MS) return undefined;
  // The built-in parser takes the 31st of any month for a day of the next.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? atMs : undefined;
}

export const instantReply = z.string().meta({ format: 'date-time' });
