// Whether a part that is alone is quicker with the cores of all workers: found out by trying, for it depends on how near the
// cores are to each other and on who else uses them. Pure.

/** A wide run takes all cores: it must bring something. */
const LEAST_GAIN = 0.95;
/** Of a narrow run's time a wide one takes less, or the same work in parts on every worker is as quick, and bears company. */
const MOST_BESIDE_SHARING = 0.75;
/** Of what was seen of a width before. */
const MEMORY = 0.8;
/** Parts from one trial of the other width to the next: twice as many whenever it was slower. */
const FIRST_TRIAL_AFTER = 8;
const LAST_TRIAL_AFTER = 128;

/** Less than this is no measure. */
const LEAST_COST_MS = 0.5;

interface WidthSeen {
  readonly isWide: boolean;
  /** Estimated for a narrow run. */
  readonly costMs: number;
  readonly wallMs: number;
}

export class WidthChoice {
  /** Time over estimate, with fading memory. */
  #wide: number | undefined;
  #narrow: number | undefined;
  #partsSinceTrial = 0;
  #trialAfter = FIRST_TRIAL_AFTER;

  /** For the next part that is alone. */
  chooseWide(): boolean {
    this.#partsSinceTrial += 1;
    if (this.#partsSinceTrial < this.#trialAfter) return this.isWideBetter;
    this.#partsSinceTrial = 0;
    return !this.isWideBetter;
  }

  observe({ isWide, costMs, wallMs }: WidthSeen): void {
    const slowness = wallMs / Math.max(costMs, LEAST_COST_MS);
    const wasWideBetter = this.isWideBetter;
    if (isWide) this.#wide = faded(this.#wide, slowness);
    else this.#narrow = faded(this.#narrow, slowness);
    if (this.isWideBetter !== wasWideBetter) {
      this.#trialAfter = FIRST_TRIAL_AFTER;
    } else if (isWide !== wasWideBetter) {
      // One run may be slow by chance: what this one alone would turn is tried again at once.
      const [wide, narrow] = isWide ? [slowness, this.#narrow] : [this.#wide, slowness];
      if (isBetter(wide, narrow) === isWide) this.#partsSinceTrial = this.#trialAfter;
      else this.#trialAfter = Math.min(LAST_TRIAL_AFTER, 2 * this.#trialAfter);
    }
  }

  get isWideBetter(): boolean {
    return isBetter(this.#wide, this.#narrow);
  }

  /** Wide runs were seen to be quicker than parts of the same work on every worker. */
  get beatsSharing(): boolean {
    return this.#wide !== undefined && this.#wide < MOST_BESIDE_SHARING * (this.#narrow ?? 1);
  }
}

/** Unknown, wide runs are expected to pay, and narrow ones to take what was estimated. */
function isBetter(wide = 0, narrow = 1): boolean {
  return wide < LEAST_GAIN * narrow;
}

function faded(mean: number | undefined, slowness: number): number {
  return mean === undefined ? slowness : MEMORY * mean + (1 - MEMORY) * slowness;
}
