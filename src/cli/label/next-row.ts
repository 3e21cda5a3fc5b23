// Which document a person is asked about next: of those that the model is least certain of, the one that is most different
// from all that were asked about before. Pure; the same rows and answers give the same order.

export interface CandidateRow {
  /** Between the two most probable options, 0 to 1: of the question that the model is least certain of. */
  readonly margin: number;
  /** `[dimensions]`; undefined: nothing is known of what it is like. */
  readonly vector: Float32Array | undefined;
}

/** Of the rows that are left, this share counts as uncertain … */
const UNCERTAIN_SHARE = 0.25;
/** … and no fewer than these. */
const LEAST_UNCERTAIN = 16;
/** As far as unit vectors can be from each other, squared. */
const FARTHEST = 4;

/** @param probabilities `[options]`. @returns 1 where there is one option */
export function certaintyMargin(probabilities: readonly number[]): number {
  const [first = 1, second = 0] = probabilities.toSorted((a, b) => b - a);
  return first - second;
}

export class RowOrder {
  readonly #margins: readonly number[];
  /** `[rows]`, centred and of length 1. */
  readonly #vectors: readonly (Float32Array | undefined)[];
  /** `[rows]`: from each to the nearest of those in `#asked`, squared. */
  readonly #distances: Float64Array;
  #asked: readonly number[] = [];

  constructor(rows: readonly CandidateRow[]) {
    this.#margins = rows.map(({ margin }) => margin);
    this.#vectors = centre(rows.map(({ vector }) => vector));
    this.#distances = new Float64Array(rows.length).fill(FARTHEST);
  }

  /**
   * @param open places of rows that may be asked about
   * @param asked places of rows that were
   * @returns undefined when there are none open
   */
  next(open: readonly number[], asked: readonly number[]): number | undefined {
    this.#measure(asked);
    const byMargin = open.toSorted((a, b) => this.#certaintyMargin(a) - this.#certaintyMargin(b) || a - b);
    const uncertain = byMargin.slice(0, Math.max(LEAST_UNCERTAIN, Math.ceil(open.length * UNCERTAIN_SHARE)));
    let best: { readonly place: number; readonly distance: number } | undefined;
    for (const place of uncertain) {
      const distance = this.#distances[place] ?? 0;
      // Of equals the least certain: it comes first.
      if (best === undefined || distance > best.distance) best = { place, distance };
    }
    return best?.place;
  }

  #certaintyMargin(place: number): number {
    return this.#margins[place] ?? 1;
  }

  /** Only what came since the last time, unless something was taken back. */
  #measure(asked: readonly number[]): void {
    const known = new Set(this.#asked);
    const now = new Set(asked);
    const isMore = this.#asked.every((place) => now.has(place));
    if (!isMore) this.#distances.fill(FARTHEST);
    for (const other of isMore ? asked.filter((place) => !known.has(place)) : asked) {
      for (const [place, vector] of this.#vectors.entries()) {
        const distance = squaredDistance(vector, this.#vectors[other]);
        if (distance < (this.#distances[place] ?? 0)) this.#distances[place] = distance;
      }
    }
    this.#asked = [...asked];
  }
}

/** Means of a model's vectors lie close to each other: what tells them apart is what they do not share. */
function centre(vectors: readonly (Float32Array | undefined)[]): (Float32Array | undefined)[] {
  const known = vectors.filter((vector) => vector !== undefined);
  const mean = new Float64Array(known[0]?.length ?? 0);
  for (const vector of known)
    for (const [at, value] of vector.entries()) mean[at] = (mean[at] ?? 0) + value / known.length;
  return vectors.map((vector) => {
    if (vector === undefined) return undefined;
    const centred = vector.map((value, at) => value - (mean[at] ?? 0));
    const length = Math.hypot(...centred);
    return length > 0 ? centred.map((value) => value / length) : centred;
  });
}

function squaredDistance(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined) return FARTHEST;
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += ((a[at] ?? 0) - (b[at] ?? 0)) ** 2;
  return sum;
}
