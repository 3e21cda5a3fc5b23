// Puts the rows of a job together to parts that do not hold a worker for long. Pure.

/** One row as it is measured before it is tokenised. */
export interface SizedRow {
  /** Its place in the job. */
  readonly row: number;
  /** As `countLetters` gives them. */
  readonly letters: number;
  /** Estimated, specials included. */
  readonly tokens: number;
  /** Estimated worker time. */
  readonly costMs: number;
}

export interface RowGroup {
  readonly rows: readonly SizedRow[];
  /** Estimated worker time. */
  readonly costMs: number;
}

/**
 * Parts of at most so much, or of one row: rows are not cut. The longest come first: no worker begins one when the
 * others are done, and a job that is refused because a row is too long is refused before the others are run.
 * @param sizeOf what a row is of `most`
 */
export function groupRows(
  rows: readonly SizedRow[],
  most: number,
  sizeOf: (row: SizedRow) => number,
): Pick<RowGroup, 'rows'>[] {
  const groups: { rows: SizedRow[]; size: number }[] = [];
  for (const sized of [...rows].sort((a, b) => b.letters - a.letters || a.row - b.row)) {
    let group = groups.at(-1);
    if (group === undefined || group.size + sizeOf(sized) > most) {
      group = { rows: [], size: 0 };
      groups.push(group);
    }
    group.rows.push(sized);
    group.size += sizeOf(sized);
  }
  return groups.map((group) => ({ rows: group.rows }));
}
