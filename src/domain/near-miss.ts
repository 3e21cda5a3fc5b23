// What somebody may have meant: the known name that is nearest to one that is not known. Pure.

/** Longer ones are no slips of a pen; what the search costs is bounded by it. */
const MAX_LENGTH = 64;
/** One slip for so many characters. */
const CHARACTERS_PER_SLIP = 4;
const BOUNDARY = /[-_.:@/ ]/;

/**
 * The first of these that holds: the same but for case and separators; one begins or ends with the other, at a separator;
 * the fewest characters differ, one in four at most. Of several that are as near, the first.
 */
export function findNearest(name: string, known: readonly string[]): string | undefined {
  if (name.length === 0 || name.length > MAX_LENGTH) return undefined;
  const wanted = name.toLowerCase();
  const candidates = known.filter(({ length }) => length > 0 && length <= MAX_LENGTH);
  const lower = (candidate: string): string => candidate.toLowerCase();
  return (
    candidates.find((candidate) => plain(lower(candidate)) === plain(wanted)) ??
    candidates.find((candidate) => isPartOf(wanted, lower(candidate)) || isPartOf(lower(candidate), wanted)) ??
    findFewestSlips(wanted, candidates)
  );
}

function plain(name: string): string {
  return name.replace(/[-_ ]/g, '');
}

function isPartOf(part: string, whole: string): boolean {
  if (part.length < 2 || part.length >= whole.length) return false;
  const isBoundary = (at: number): boolean => BOUNDARY.test(whole.charAt(at));
  if (whole.startsWith(part) && isBoundary(part.length)) return true;
  return whole.endsWith(part) && (BOUNDARY.test(part.charAt(0)) || isBoundary(whole.length - part.length - 1));
}

function findFewestSlips(wanted: string, candidates: readonly string[]): string | undefined {
  let [best, fewest]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const candidate of candidates) {
    const most = Math.floor(Math.max(wanted.length, candidate.length) / CHARACTERS_PER_SLIP);
    if (Math.abs(wanted.length - candidate.length) > most) continue;
    const slips = countSlips(wanted, candidate.toLowerCase());
    if (slips <= most && slips < fewest) [best, fewest] = [candidate, slips];
  }
  return best;
}

/** Characters left out, added or replaced, and neighbours in the wrong order (optimal string alignment). */
function countSlips(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let at = 1; at <= b.length; at++) {
      const replaced = (above[at - 1] ?? 0) + (a[row - 1] === b[at - 1] ? 0 : 1);
      let least = Math.min(replaced, (above[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1);
      const isSwapped = row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1];
      if (isSwapped) least = Math.min(least, (before[at - 2] ?? 0) + 1);
      current.push(least);
    }
    [before, above] = [above, current];
  }
  return above[b.length] ?? 0;
}
