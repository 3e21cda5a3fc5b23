// Moments in bodies and queries: ISO 8601 with a zone, or a date, which is its midnight in UTC. In replies always UTC.

import { z } from 'zod';

const INSTANT = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** @param where `field` or `parameter` */
export function instantField(name: string, where: 'field' | 'parameter' = 'field') {
  const message = `The ${where} '${name}' must be a date or a moment with a zone, such as 2027-01-31T12:00:00Z.`;
  return z
    .string(message)
    .transform((text, context) => {
      const atMs = findInstantMs(text);
      if (atMs !== undefined) return atMs;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ type: 'string', format: 'date-time' });
}

/** Milliseconds since the epoch; undefined for days that no calendar has. */
function findInstantMs(text: string): number | undefined {
  const day = INSTANT.exec(text)?.[1];
  const atMs = Date.parse(text);
  if (day === undefined || Number.isNaN(atMs) || atMs < 0) return undefined;
  // The built-in parser takes the 31st of any month for a day of the next.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? atMs : undefined;
}

export function toInstant(ms: number): string;
export function toInstant(ms: number | null): string | null;
export function toInstant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

export const instantReply = z.string().meta({ format: 'date-time' });
