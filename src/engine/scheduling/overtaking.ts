// How much of the workers' time goes to calls shorter than a given one: they come later and are still served before it.
// Pure: time is handed in.

/** Arrivals older than some of these do not count. */
const FADE_MS = 2000;
const BUCKETS = 20;
/** What is admitted is worked off in the end: more than this would be a burst, not a rate. */
const MOST = 0.9;

export class Overtaking {
  readonly #workers: number;
  /** By length, a factor of two wide: faded worker time that came. */
  readonly #arrivedMs = new Float64Array(BUCKETS);
  #fadedMs = 0;

  constructor(workers: number) {
    this.#workers = workers;
  }

  /** A ticket was let in. */
  observe(costMs: number, nowMs: number): void {
    this.#fade(nowMs);
    const bucket = bucketOf(costMs);
    this.#arrivedMs[bucket] = (this.#arrivedMs[bucket] ?? 0) + costMs;
  }

  /** Part of the workers' time that calls clearly shorter than `costMs` take. */
  shareBelow(costMs: number, nowMs: number): number {
    this.#fade(nowMs);
    let arrivedMs = 0;
    for (let bucket = 0; bucket < bucketOf(costMs); bucket++) arrivedMs += this.#arrivedMs[bucket] ?? 0;
    return Math.min(MOST, arrivedMs / FADE_MS / this.#workers);
  }

  #fade(nowMs: number): void {
    const left = Math.exp((this.#fadedMs - nowMs) / FADE_MS);
    this.#fadedMs = nowMs;
    for (let bucket = 0; bucket < BUCKETS; bucket++) this.#arrivedMs[bucket] = (this.#arrivedMs[bucket] ?? 0) * left;
  }
}

function bucketOf(costMs: number): number {
  return Math.min(BUCKETS - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, costMs)))));
}
