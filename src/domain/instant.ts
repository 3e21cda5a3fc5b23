// A moment as text, for the wire and for the command line: RFC 3339, in UTC. Pure.

export function toInstant(ms: number): string;
export function toInstant(ms: number | null): string | null;
export function toInstant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
